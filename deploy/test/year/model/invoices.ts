import { taxOf, withTax, type ModelCurrency, type ModelTax } from './money.ts'

/* Invoices (4.4 to 4.6, Q11, Q12), and what becomes of them. Times are milliseconds, amounts minor units. */

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
  /** Of what it charges; absent: of no period. */
  readonly start?: number
  readonly end?: number
  readonly amount: bigint
}

export type ModelInvoice = {
  readonly lines: readonly ModelLine[]
  readonly total: bigint
  /** Of earlier invoices. */
  readonly carriedIn: bigint
  readonly tax: ModelTax | undefined
  /** Moved on to the customer's next invoice, a credit below nothing. */
  carried: bigint
  /** Taken back of what is due, and what the customer has of it with the next invoice. */
  credited: bigint
  kept: bigint
  /** What begins when it is paid. */
  period: { readonly start: number; readonly end: number } | undefined
  status: 'draft' | 'open' | 'paid' | 'partly_refunded' | 'refunded' | 'void' | 'uncollectible'
  paid: bigint
  refunded: bigint
  /** When, and by which of the customer's cards. */
  paidAt: number | undefined
  paidBy: number | undefined
  isDisputed: boolean
  /** And the bank has taken the money back for good. */
  isLost: boolean
  /** Of what was paid for as it was taken. */
  readonly isSale: boolean
  /** Charges that failed, and when the next one is tried; null: when there is another card. */
  failures: number
  nextCharge: number | null
  /** When something happened to it last. */
  touchedAt: number
}

export type Sale = {
  readonly currency: ModelCurrency
  readonly tax: ModelTax | undefined
  /** What earlier invoices left for this one. */
  readonly carriedIn: bigint
  /** Whether what costs nothing has an invoice. */
  readonly issuesZero: boolean
}

/** It costs nothing, and is no invoice: what was counted is kept. What waits is taken over once it is enough to be charged. */
export function staysDraft(
  charges: readonly ModelLine[],
  { carriedIn, issuesZero }: Sale,
): boolean {
  return !issuesZero && carriedIn === 0n && charges.every(({ amount }) => amount === 0n)
}

/** Too little to be charged waits for the next one, and so does a credit; it is settled by that. */
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

/** What was paid for as it was taken. */
export function sell(
  charges: readonly ModelLine[],
  sale: Pick<Sale, 'currency' | 'tax'>,
  paid: Paid,
): ModelInvoice {
  const invoice = issue(charges, undefined, { ...sale, carriedIn: 0n, issuesZero: true }, paid.at)
  pay(invoice, paid)
  return { ...invoice, isSale: true }
}

export type Paid = { readonly at: number; readonly card: number | undefined }

export function pay(invoice: ModelInvoice, { at, card }: Paid): void {
  if (invoice.status !== 'open') return
  Object.assign(invoice, { paid: dueOf(invoice), paidAt: at, paidBy: card })
  settle(invoice)
}

export function payBack(invoice: ModelInvoice, amount: bigint): void {
  invoice.refunded += amount
  invoice.status = invoice.refunded === invoice.paid ? 'refunded' : 'partly_refunded'
}

/** The period that it charges for does not begin: it is not owed, and usage beside it stays so. */
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
    if (dueOf(invoice) === 0n) settle(invoice)
  } else {
    carryOver(invoice)
    invoice.kept = back
  }
}

/** The processor takes no such amount. */
export function carryOver(invoice: ModelInvoice): void {
  invoice.carried += dueOf(invoice)
  settle(invoice)
}

function settle(invoice: ModelInvoice): void {
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

/** An invoice in one line, to be compared. */
export function describe({ lines, status, ...amounts }: DescribedInvoice): string {
  const { total, carried, credited, paid, refunded } = amounts
  const said = `total ${total} carried ${carried} credited ${credited} paid ${paid} refunded ${refunded}`
  return `${status} ${said}: ${lines.map(describeLine).toSorted().join(', ')}`
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
