import { Recent } from '@tollgate/platform/memory/recent'

const rememberedMax = 100_000

/**
 * How often the key of a client stood for a call that succeeded. Each time the MCP server worked, and the customer pays once: that
 * is for answers that got lost, and not for calling as often as one likes. Known to this process alone.
 */
export class KeyRepeats {
  readonly #repeatsMax: number
  readonly #uses = new Recent<number>(rememberedMax)

  constructor(repeatsMax: number) {
    this.#repeatsMax = repeatsMax
  }

  /** Counts a use of the key. Returns whether the key has been used too often for this use to be free. */
  isTooOften(key: string): boolean {
    const before = this.#uses.get(key) ?? 0
    this.#uses.set(key, before + 1)
    return before > this.#repeatsMax
  }
}
