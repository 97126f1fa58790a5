import type { ComparedKind, Finding, PossibleRepair, Repair, Tally } from './finding.ts'

export type Gap = { readonly kind: ComparedKind; readonly reason: string }

/** Result of a reconciliation for one provider. */
export type ProviderTally = {
  readonly compared: ReadonlyMap<ComparedKind, number>
  /** The stored findings, at most the maximum. */
  readonly findings: readonly Finding[]
  readonly found: number
  readonly repaired: number
}

type Counted = {
  compared: Map<ComparedKind, number>
  findings: Finding[]
  found: number
  repaired: number
}

/** Sums what is compared and found for each provider, and stores up to `findingsMax` findings of each. */
export class Tallies implements Tally {
  readonly #byProvider = new Map<string, Counted>()
  readonly #withoutProvider: Finding[] = []
  readonly #gaps = new Map<string, Gap>()
  readonly #findingsMax: number
  readonly #repairs = new Map<string, Repair>()
  readonly #notToRepair = new Set<string>()

  constructor(findingsMax: number) {
    this.#findingsMax = findingsMax
  }

  compared(providerId: string, kind: ComparedKind, count = 1): void {
    const { compared } = this.#of(providerId)
    compared.set(kind, (compared.get(kind) ?? 0) + count)
  }

  found(finding: Finding): void {
    if (finding.providerId === undefined) {
      if (this.#withoutProvider.length < this.#findingsMax) this.#withoutProvider.push(finding)
      return
    }
    const counted = this.#of(finding.providerId)
    counted.found += 1
    if (finding.isRepaired) counted.repaired += 1
    if (counted.findings.length < this.#findingsMax) counted.findings.push(finding)
  }

  canRepair(repair: Repair): void {
    if (this.#repairs.size < this.#findingsMax) this.#repairs.set(JSON.stringify(repair), repair)
  }

  mustNotRepair(repair: Repair): void {
    this.#notToRepair.add(JSON.stringify(repair))
  }

  couldNotCompare(kind: ComparedKind, reason: string): void {
    this.#gaps.set(`${kind} ${reason}`, { kind, reason })
  }

  get byProvider(): ReadonlyMap<string, ProviderTally> {
    return this.#byProvider
  }

  /** Findings without a known provider. */
  get withoutProvider(): readonly Finding[] {
    return this.#withoutProvider
  }

  /** Returns each repair once, at most `findingsMax` in all. Others are found again by the next reconciliation. */
  get repairs(): readonly PossibleRepair[] {
    return [...this.#repairs].map(([name, repair]) => {
      return { repair, isForbidden: this.#notToRepair.has(name) }
    })
  }

  get gaps(): readonly Gap[] {
    return [...this.#gaps.values()]
  }

  #of(providerId: string): Counted {
    const counted = this.#byProvider.get(providerId) ?? {
      compared: new Map<ComparedKind, number>(),
      findings: [],
      found: 0,
      repaired: 0,
    }
    this.#byProvider.set(providerId, counted)
    return counted
  }
}
