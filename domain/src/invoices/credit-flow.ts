import { FlowNetwork, unbounded } from '../money/flow-network.ts'
import {
  creditIn,
  keptOf,
  netIn,
  periodsOf,
  priceIn,
  uncreditedPriceIn,
  withTax,
  type BillOfUsage,
} from './bill-of-usage.ts'

/**
 * Assigns the credits of corrected usage to the bills that have charged the usage. A credit names its period, and not the bill that
 * charged too much. So it may belong to each bill of the period before it, up to what the bill has charged of the period, and all
 * credits together up to what is kept of the bill.
 */
export class CreditFlow {
  readonly #network = new FlowNetwork()
  readonly #source = this.#network.addNode()
  readonly #sink = this.#network.addNode()
  readonly #nodes = new Map<BillOfUsage, number>()
  /** The last node of each period, from which all of its bills can be reached. */
  readonly #periods = new Map<number, number>()
  /** The nodes of the stretches in which `own` charges. */
  readonly #ownPeriods: { readonly start: number; readonly node: number }[] = []

  /** `bills` are in the order in which they were made. `own` is left out until `assignToOwn`. */
  constructor(bills: readonly BillOfUsage[], own?: BillOfUsage) {
    for (const [start, ofPeriod] of byPeriod(bills)) this.#addPeriod(start, ofPeriod, own)
    this.#network.push(this.#source, this.#sink)
  }

  /** Adds the charges of `own`, and returns what must belong to it, by the start of the period. With tax, and after discounts. */
  assignToOwn(own: BillOfUsage): ReadonlyMap<number, bigint> {
    const ownNode = this.#network.addNode()
    this.#network.connect(ownNode, this.#sink, unbounded)
    const edges = this.#ownPeriods.map(({ start, node }) => {
      const chargedMinor = withTax(own, priceIn(own, start))
      return [start, this.#network.connect(node, ownNode, chargedMinor)] as const
    })
    this.#network.push(this.#source, this.#sink)
    return new Map(edges.map(([start, edge]) => [start, this.#network.flowOf(edge)]))
  }

  /** Returns how much of a further credit of the period the bills have left, and assigns it to them. */
  assignFurther(start: number, wantedMinor: bigint): bigint {
    const period = this.#periods.get(start)
    if (period === undefined) return 0n
    const further = this.#network.addNode()
    this.#network.connect(further, period, wantedMinor)
    return this.#network.push(further, this.#sink)
  }

  /**
   * Adds a node for each stretch of the period that ends with a credit. It reaches the bills of its own stretch, and those of the
   * stretches before.
   */
  #addPeriod(start: number, bills: readonly BillOfUsage[], own: BillOfUsage | undefined): void {
    let node = this.#network.addNode()
    let charging: BillOfUsage | undefined
    for (const bill of bills) {
      const netMinor = netIn(bill, start)
      if (netMinor > 0n) {
        charging = bill
        if (bill === own) this.#ownPeriods.push({ start, node })
        else this.#network.connect(node, this.#nodeOf(bill), capacityIn(bill, start))
      } else if (netMinor < 0n && !bill.isVoid) {
        const { amountMinor } = creditIn(bill, start, charging ?? bill)
        this.#network.connect(this.#source, node, amountMinor)
        const after = this.#network.addNode()
        this.#network.connect(after, node, unbounded)
        node = after
      }
    }
    this.#periods.set(start, node)
  }

  #nodeOf(bill: BillOfUsage): number {
    const known = this.#nodes.get(bill)
    if (known !== undefined) return known
    const node = this.#network.addNode()
    this.#network.connect(node, this.#sink, keptOf(bill))
    this.#nodes.set(bill, node)
    return node
  }
}

/** Returns what credits can credit of the bill's usage of the period, as far as the bill as a whole has it left. */
function capacityIn(bill: BillOfUsage, start: number): bigint {
  return withTax(bill, uncreditedPriceIn(bill, start))
}

function byPeriod(bills: readonly BillOfUsage[]): Map<number, BillOfUsage[]> {
  const found = new Map<number, BillOfUsage[]>()
  for (const bill of bills) {
    for (const start of periodsOf(bill)) {
      const ofPeriod = found.get(start)
      if (ofPeriod === undefined) found.set(start, [bill])
      else ofPeriod.push(bill)
    }
  }
  return found
}
