import type { UnitOfWork } from '../store/unit-of-work.ts'
import type { Kind } from '../store/records.ts'
import { present } from '../objects/present.ts'
import { invalidParameter } from '../errors.ts'

const kindByPrefix: Readonly<Record<string, Kind>> = {
  cus: 'customer',
  pm: 'payment_method',
  pi: 'payment_intent',
  seti: 'setup_intent',
  ch: 'charge',
  re: 'refund',
  dp: 'dispute',
  po: 'payout',
  txn: 'balance_transaction',
}
const depthMax = 4

/** Fields that are absent while they have no value. */
const optionalFields: ReadonlySet<string> = new Set(['failure_balance_transaction'])

type Fields = Record<string, unknown>

/** Replaces ids by whole objects along paths such as `data.latest_charge.balance_transaction`. */
export function expandAll(work: UnitOfWork, body: object, paths: readonly string[]): object {
  const expanded = structuredClone(body) as Fields
  for (const path of paths) {
    const steps = path.split('.')
    if (steps.length > depthMax) {
      throw invalidParameter(`You cannot expand more than ${depthMax} levels of a property.`, {
        param: 'expand',
      })
    }
    expandPath(work, expanded, steps, path)
  }
  return expanded
}

function expandPath(
  work: UnitOfWork,
  fields: Fields,
  steps: readonly string[],
  path: string,
): void {
  const [step, ...others] = steps
  if (step === undefined) return
  if (!(step in fields)) {
    if (optionalFields.has(step)) return
    throw invalidParameter(`This property cannot be expanded (${path}).`, { param: 'expand' })
  }
  const value = fields[step]
  if (typeof value === 'string') {
    const kind = kindByPrefix[value.slice(0, value.indexOf('_'))]
    if (kind !== undefined) fields[step] = present(work.require(kind, value))
  }
  const next = fields[step]
  const inner: unknown[] = Array.isArray(next) ? next : [next]
  for (const each of inner) {
    if (typeof each === 'object' && each !== null) expandPath(work, each as Fields, others, path)
  }
}
