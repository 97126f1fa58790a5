/** Whole credits of one grant. */
export type ModelGrant = {
  readonly priority: number
  readonly expiresAt: number
  readonly order: number
  left: number
}

/** Credits taken from a grant. */
export type Taken = { readonly grant: ModelGrant; readonly credits: number }

export type GrantTerms = { readonly priority?: number; readonly expiresAt?: number }

/** The expected wallet. Grants are used by priority, then by earliest expiry, then by age. */
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

  /** Debits at most the available credits. Returns the debited amount. */
  spend(credits: number): number {
    return this.#take(credits, this.#grants).reduce((sum, taken) => sum + taken.credits, 0)
  }

  /** Takes back at most the available credits, first from the given grant. */
  takeBack(credits: number, own: ModelGrant): Taken[] {
    return this.#take(credits, [own, ...this.#grants.filter((grant) => grant !== own)])
  }

  /** Returns credits to their grants. Expired grants stay expired. */
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
