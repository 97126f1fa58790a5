import type { RegisterAnswer } from '@tollgate/platform/tax-register/tax-register'

/** What is known about a tax id beyond its format. */
export type TaxIdCheck = {
  readonly taxId: string
  /** `unknown`: the register could not be asked yet. The tax id counts as valid until it says otherwise. */
  readonly status: 'valid' | 'invalid' | 'unknown'
  /** `person`: the provider decided, and the register is not asked any more. */
  readonly source: 'register' | 'person'
  readonly checkedAt: Date
  /** When the register is asked again; null if a person decided. */
  readonly nextCheckAt: Date | null
  readonly registeredName: string | null
  readonly registeredAddress: string | null
  readonly consultationNumber: string | null
  readonly reason: string | null
}

const hourMs = 3_600_000

/** How long an answer of the register counts. */
const answerMs = 90 * 24 * hourMs

/** How long an id that is not in the register is remembered: a new company appears there within days. */
const invalidMs = 24 * hourMs

/** The pause after which a register that did not answer is asked again. */
const unavailableMs = hourMs

/** Returns what the answer of the register says. Without an answer it is unknown, and the register is asked again in an hour. */
export function checkAfter(taxId: string, answer: RegisterAnswer, now: Date): TaxIdCheck {
  const after = (ms: number): Date => new Date(now.getTime() + ms)
  if (answer.kind === 'unavailable') {
    const nextCheckAt = after(unavailableMs)
    return { ...nothing, taxId, status: 'unknown', checkedAt: now, nextCheckAt }
  }
  if (answer.kind === 'invalid') {
    return { ...nothing, taxId, status: 'invalid', checkedAt: now, nextCheckAt: after(invalidMs) }
  }
  return {
    ...nothing,
    taxId,
    status: 'valid',
    checkedAt: now,
    nextCheckAt: after(answerMs),
    registeredName: answer.name,
    registeredAddress: answer.address,
    consultationNumber: answer.consultationNumber,
  }
}

/** Returns the check that a person decided. */
export function checkByPerson(
  taxId: string,
  status: 'valid' | 'invalid',
  reason: string,
  now: Date,
): TaxIdCheck {
  return { ...nothing, taxId, status, source: 'person', checkedAt: now, nextCheckAt: null, reason }
}

/** Returns whether the register is to be asked about the tax id now. */
export function isCheckDue(check: TaxIdCheck | undefined, now: Date): boolean {
  return check === undefined || (check.nextCheckAt !== null && check.nextCheckAt <= now)
}

const nothing = {
  source: 'register',
  registeredName: null,
  registeredAddress: null,
  consultationNumber: null,
  reason: null,
} as const
