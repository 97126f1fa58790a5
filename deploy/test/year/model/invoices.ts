import { taxOf, withTax, type ModelCurrency, type ModelTax } from './money.ts'

/* Invoices (4.4 to 4.6, Q11, Q12) and their changes. Times are milliseconds, amounts minor units. */

export type LineKind =
  | 'recurring'
  | 'setup_fee'
  | 'one_time'
  | 'credits'
  | 'proration'
  | 'usage'
  | 'late_usage'
  | 'tax'
  | 'carried_in'

export type ModelLine = {
  readonly kind: LineKind
  /** Start of the charged period. Absent if the line charges no period. */
  readonly start?: number
  readonly end?: number
  readonly amount: bigint
}

export type ModelInvoice = {
  readonly lines: readonly ModelLine[]
  readonly total: bigint
  /** Amount carried from earlier invoices. */
  readonly carriedIn: bigint
  readonly tax: ModelTax | undefined
  /** Amount carried to the customer's next invoice. A credit is negative. */
  carried: bigint
  /** Amount credited from the due amount, and the part that the next invoice returns. */
  credited: bigint
  kept: bigint
  /** Period that begins when the invoice is paid. */
  period: { readonly start: number; readonly end: number } | undefined
  status: 'draft' | 'open' | 'paid' | 'partly_refunded' | 'refunded' | 'void' | 'uncollectible'
  paid: bigint
  refunded: bigint
  /** Time of the payment, and number of the customer's card. */
  paidAt: number | undefined
  paidBy: number | undefined
  isDisputed: boolean
  /** Whether a dispute was lost and the money is withdrawn permanently. */
  isLost: boolean
  /** Whether the invoice was paid when it was issued. */
  readonly isSale: boolean
  /** Number of failed charges, and time of the next attempt. Null: the next attempt waits for another card. */
  failures: number
  nextCharge: number | null
  /** Time of the last change. */
  touchedAt: number
}

export type Sale = {
  readonly currency: ModelCurrency
  readonly tax: ModelTax | undefined
  /** Amount carried from earlier invoices. */
  readonly carriedIn: bigint
  /** Whether periods that cost nothing have an invoice. */
  readonly issuesZero: boolean
}

/**
 * Returns whether the period stays a draft because it costs nothing. The draft keeps the counted units. A carried amount is
 * included as soon as it is large enough to be charged.
 */
export function staysDraft(
  charges: readonly ModelLine[],
  { carriedIn, issuesZero }: Sale,
): boolean {
  return !issuesZero && carriedIn === 0n && charges.every(({ amount }) => amount === 0n)
}

/**
 * Issues an invoice. An amount too small to be charged is carried to the next invoice, and so is a credit. The invoice then counts
 * as paid.
 */
export function issue(
  charges: readonly ModelLine[],
  period: ModelInvoice['period'],
  sale: Sale,
  at: number,
): ModelInvoice {
  const { currency, tax, carriedIn } = sale
  const charged = sum(charges)
  const taxed = tax === undefined || charged === 0n ? undefined : taxOf(charged, tax)
  const lines: ModelLine[] = [
    ...charges,
    ...(taxed === undefined ? [] : [{ kind: 'tax', amount: taxed } as const]),
    ...(carriedIn === 0n ? [] : [{ kind: 'carried_in', amount: carriedIn } as const]),
  ]
  const total = charged + carriedIn + (tax?.isContained === true ? 0n : (taxed ?? 0n))
  const carried = total < currency.chargeMin ? total : 0n
  return {
    lines,
    total,
    carriedIn,
    tax,
    carried,
    credited: 0n,
    kept: 0n,
    period,
    status: staysDraft(charges, sale) ? 'draft' : total === carried ? 'paid' : 'open',
    paid: 0n,
    refunded: 0n,
    paidAt: undefined,
    paidBy: undefined,
    isDisputed: false,
    isLost: false,
    isSale: false,
    failures: 0,
    nextCharge: null,
    touchedAt: at,
  }
}

/** Issues an invoice that is paid immediately. `credit` is the part that an earlier credit pays. */
export function sell(
  charges: readonly ModelLine[],
  sale: Pick<Sale, 'currency' | 'tax'>,
  paid: Paid,
  credit = 0n,
): ModelInvoice {
  const taken = { carriedIn: -credit, issuesZero: true }
  const invoice = issue(charges, undefined, { ...sale, ...taken }, paid.at)
  pay(invoice, paid)
  return { ...invoice, isSale: true }
}

export type Paid = { readonly at: number; readonly card: number | undefined }

export function pay(invoice: ModelInvoice, { at, card }: Paid): void {
  if (invoice.status !== 'open') return
  Object.assign(invoice, { paid: dueOf(invoice), paidAt: at, paidBy: card })
  markPaid(invoice)
}

/** Returns whether all that was paid for the charges of the invoice is returned, also what an earlier credit paid. */
export function isReturned({ status, refunded, kept, total, carriedIn }: ModelInvoice): boolean {
  return status === 'refunded' && refunded + kept >= total - carriedIn
}

export function refundInvoice(invoice: ModelInvoice, amount: bigint): void {
  invoice.refunded += amount
  invoice.status = invoice.refunded === invoice.paid ? 'refunded' : 'partly_refunded'
}

/** Removes the charge of a period that does not begin. It is no longer owed, while usage on the same invoice still is. */
export function dropPeriod(invoice: ModelInvoice, at: number): void {
  const { lines, status, period, tax } = invoice
  if (status !== 'open' || period === undefined) return
  Object.assign(invoice, { period: undefined, touchedAt: at })
  if (!lines.some(({ kind }) => isUsage(kind))) {
    Object.assign(invoice, { status: 'void', nextCharge: null })
    return
  }
  const price = sum(lines.filter(({ kind }) => kind === 'recurring' || kind === 'setup_fee'))
  const back = withTax(price, tax)
  if (back <= dueOf(invoice)) {
    invoice.credited = back
    if (dueOf(invoice) === 0n) markPaid(invoice)
  } else {
    carryOver(invoice)
    invoice.kept = back
  }
}

/** Carries an amount that the processor does not accept. */
export function carryOver(invoice: ModelInvoice): void {
  invoice.carried += dueOf(invoice)
  markPaid(invoice)
}

function markPaid(invoice: ModelInvoice): void {
  Object.assign(invoice, { status: 'paid', nextCharge: null })
}

function isUsage(kind: LineKind): boolean {
  return kind === 'usage' || kind === 'late_usage'
}

export function dueOf({ total, carried, credited }: ModelInvoice): bigint {
  return total - carried - credited
}

function sum(lines: readonly ModelLine[]): bigint {
  return lines.reduce((total, { amount }) => total + amount, 0n)
}

/** Returns a key of an invoice among those of a purchase: that of its first line of its own. */
export function keyOf(purchaseRef: string, lines: readonly ModelLine[]): string {
  return lineKey(purchaseRef, lines.find(({ kind }) => kind !== 'late_usage') ?? lines[0]!)
}

/** Returns a key of a line among those of a purchase. */
export function lineKey(
  purchaseRef: string,
  { kind, start }: Pick<ModelLine, 'kind' | 'start'>,
): string {
  return `${purchaseRef} ${kind} ${start ?? ''}`
}

/** Formats an invoice as one line for comparison. */
export function describe({ lines, status, ...amounts }: DescribedInvoice): string {
  const { total, carried, credited, paid, refunded } = amounts
  const description = `total ${total} carried ${carried} credited ${credited} paid ${paid} refunded ${refunded}`
  return `${status} ${description}: ${lines.map(describeLine).toSorted().join(', ')}`
}

type DescribedInvoice = Pick<
  ModelInvoice,
  'lines' | 'total' | 'carried' | 'credited' | 'paid' | 'refunded'
> & { readonly status: string }

function describeLine({ kind, start, end, amount }: ModelLine): string {
  const period = start === undefined ? '' : ` ${day(start)}..${end === undefined ? '' : day(end)}`
  return `${kind}${period} ${amount}`
}

function day(at: number): string {
  return new Date(at).toISOString()
}
