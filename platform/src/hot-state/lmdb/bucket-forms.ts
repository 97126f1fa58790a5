import { bucketFormName, type BucketForm, type BucketSpec } from '../buckets.ts'

/** A bucket form that is counted for an entry. */
export type StoredForm = BucketForm & {
  readonly name: string
  /** Ids of the specs that list it. A form without any is not shown to readers. */
  readonly ids: readonly string[]
  /**
   * The second up to which waiting slots are folded into the buckets; Infinity once all are. Usage that goes to a slot at or after
   * it is left to the fold.
   */
  readonly filledTo: number
  /** Second since which no spec lists the form; 0 for a listed one. */
  readonly withdrawnAtSecond: number
}

/** A stored form; a `filledTo` of null stands for Infinity. */
export type StoredFormArray = readonly [
  ids: readonly string[],
  seconds: number,
  offsetSeconds: number,
  kept: number,
  filledTo: number | null,
  withdrawnAtSecond: number,
]

/** All times of slots. Finite, because times are part of keys. */
export const allSlots = { fromSecond: -1e12, toSecond: 1e12 }

export function encodeForms(forms: readonly StoredForm[]): StoredFormArray[] {
  return forms.map(({ ids, seconds, offsetSeconds, kept, filledTo, withdrawnAtSecond }) => {
    const filled = filledTo === Infinity ? null : filledTo
    return [ids, seconds, offsetSeconds, kept, filled, withdrawnAtSecond]
  })
}

export function decodeForms(stored: readonly StoredFormArray[]): StoredForm[] {
  return stored.map(([ids, seconds, offsetSeconds, kept, filledTo, withdrawnAtSecond]) => {
    const form = { seconds, offsetSeconds, kept }
    const filled = filledTo ?? Infinity
    return { ...form, name: bucketFormName(form), ids, filledTo: filled, withdrawnAtSecond }
  })
}

/**
 * Returns the forms that an entry counts after its publication with these specs: those of the specs, then the withdrawn ones. New
 * forms are not filled.
 */
export function publishedForms(
  stored: readonly StoredForm[],
  specs: readonly BucketSpec[],
  nowSecond: number,
): StoredForm[] {
  const forms = new Map<string, StoredForm>()
  for (const { id, seconds, offsetSeconds, kept } of specs) {
    const form = { seconds, offsetSeconds, kept }
    const name = bucketFormName(form)
    const known = stored.find((each) => each.name === name)
    const ids = [...(forms.get(name)?.ids ?? []), id]
    const filledTo = known?.filledTo ?? allSlots.fromSecond
    forms.set(name, { ...form, name, ids, filledTo, withdrawnAtSecond: 0 })
  }
  for (const form of stored) {
    if (!forms.has(form.name)) forms.set(form.name, withdrawn(form, nowSecond))
  }
  return [...forms.values()]
}

/**
 * Returns the forms while a publication is not finished: those of the former publication as they were listed, and the new ones,
 * which no reader sees yet.
 */
export function formsMeanwhile(
  stored: readonly StoredForm[],
  next: readonly StoredForm[],
  nowSecond: number,
): StoredForm[] {
  return next.map((form) => {
    const known = stored.find(({ name }) => name === form.name)
    if (known === undefined) return withdrawn(form, nowSecond)
    return { ...known, filledTo: form.filledTo }
  })
}

export function withdrawn(form: StoredForm, nowSecond: number): StoredForm {
  if (form.withdrawnAtSecond > 0) return form
  return { ...form, ids: [], withdrawnAtSecond: nowSecond }
}
