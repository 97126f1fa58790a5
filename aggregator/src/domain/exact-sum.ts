/**
 * Adds safe integers exactly. The sum is a number while it is a safe integer, because a bigint addition per event would be the most
 * expensive step of the fold.
 */
export class ExactSum {
  #small = 0
  #large = 0n

  add(value: number): void {
    const sum = this.#small + value
    if (Number.isSafeInteger(sum)) {
      this.#small = sum
      return
    }
    this.#large += BigInt(this.#small)
    this.#small = value
  }

  total(): bigint {
    return this.#large + BigInt(this.#small)
  }
}
