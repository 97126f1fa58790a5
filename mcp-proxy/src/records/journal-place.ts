/** A position between two records of the journal. */
export type JournalPlace = { readonly segment: number; readonly offset: number }

export function isBefore(one: JournalPlace, other: JournalPlace): boolean {
  return one.segment === other.segment ? one.offset < other.offset : one.segment < other.segment
}
