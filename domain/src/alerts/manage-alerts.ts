import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Alert, AlertThreshold } from './alert.ts'
import { requestCheck } from './checks-repository.ts'
import { countSharedAlerts, deleteAlert, insertAlert, updateThresholds } from './repository.ts'

export type NewAlert = Omit<Alert, 'reference' | 'createdAt' | 'updatedAt'>

export type CreateAlertOutcome =
  | { readonly kind: 'alert'; readonly alert: Alert }
  /** The same limit of the same customer or plan has an alert. */
  | { readonly kind: 'exists' }
  /** The provider has the maximum number of alerts that are not of one customer. */
  | { readonly kind: 'too-many' }

/**
 * Creates an alert. An alert of a customer is compared with past usage of the running period at once. Other alerts are compared
 * when a customer next uses something, because a provider may have any number of customers.
 */
export async function createAlert(
  work: UnitOfWork,
  fields: NewAlert,
  sharedAlertsMax: number,
): Promise<CreateAlertOutcome> {
  const { sql, providerId, now } = work
  const isShared = fields.customerRef === null
  if (isShared && (await countSharedAlerts(sql, providerId)) >= sharedAlertsMax) {
    return { kind: 'too-many' }
  }
  const alert = { ...fields, reference: generateReference('alert'), createdAt: now, updatedAt: now }
  if (!(await insertAlert(sql, providerId, alert))) return { kind: 'exists' }
  await checkCustomerOf(work, alert)
  return { kind: 'alert', alert }
}

/** Replaces the thresholds of an alert. What was emitted in the period is not emitted again. Returns undefined if there is no such alert. */
export async function changeAlert(
  work: UnitOfWork,
  reference: string,
  thresholds: readonly AlertThreshold[],
): Promise<Alert | undefined> {
  const { sql, providerId, now } = work
  const alert = await updateThresholds(sql, providerId, reference, thresholds, now)
  if (alert !== undefined) await checkCustomerOf(work, alert)
  return alert
}

/** Returns false if there is no such alert. */
export async function removeAlert(
  { sql, providerId }: UnitOfWork,
  reference: string,
): Promise<boolean> {
  return deleteAlert(sql, providerId, reference)
}

async function checkCustomerOf(work: UnitOfWork, { customerRef }: Alert): Promise<void> {
  if (customerRef !== null) await requestCheck(work, customerRef)
}
