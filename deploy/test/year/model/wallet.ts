/** Whole credits of one origin. */
export type ModelGrant = {
  readonly priority: number
  readonly expiresAt: number
  readonly order: number
  left: number
}

/** What was taken of a grant. */
export type Taken = { readonly grant: ModelGrant; readonly credits: number }

export type GrantTerms = { readonly priority?: number; readonly expiresAt?: number }

/** Credits as they must be: used by priority, then what expires first, then the oldest. */
export class ModelWallet {
  #grants: ModelGrant[] = []
  #total = 0

  get credits(): number {
    return this.#grants.reduce((sum, { left }) => sum + left, 0)
  }

  grant(credits: number, { priority = 0, expiresAt = Infinity }: GrantTerms = {}): ModelGrant {
    this.#total += 1
    const grant = { priority, expiresAt, order: this.#total, left: credits }
    this.#grants.push(grant)
    this.#grants.sort(
      (one, other) =>
        one.priority - other.priority ||
        Math.sign(one.expiresAt - other.expiresAt) ||
        one.order - other.order,
    )
    return grant
  }

  /** Takes what there is of them. How many were taken. */
  spend(credits: number): number {
    return this.#take(credits, this.#grants).reduce((sum, taken) => sum + taken.credits, 0)
  }

  /** As many as there are, of that grant first. */
  takeBack(credits: number, own: ModelGrant): Taken[] {
    return this.#take(credits, [own, ...this.#grants.filter((grant) => grant !== own)])
  }

  /** Into the grants that they came from; what has expired meanwhile stays so. */
  giveBack(taken: readonly Taken[]): void {
    for (const { grant, credits } of taken) {
      if (this.#grants.includes(grant)) grant.left += credits
    }
  }

  expire(at: number): void {
    this.#grants = this.#grants.filter(({ expiresAt }) => expiresAt > at)
  }

  #take(credits: number, grants: readonly ModelGrant[]): Taken[] {
    let rest = credits
    return grants.map((grant) => {
      const taken = Math.min(grant.left, rest)
      grant.left -= taken
      rest -= taken
      return { grant, credits: taken }
    })
  }
}
