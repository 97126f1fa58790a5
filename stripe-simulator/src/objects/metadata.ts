import type { Metadata } from '../store/records.ts'

/** Empty text takes one away; empty text in place of them all takes all away. */
export type MetadataChange = '' | Readonly<Record<string, string>>

export function changedMetadata(metadata: Metadata, change: MetadataChange | undefined): Metadata {
  if (change === undefined) return metadata
  if (change === '') return {}
  const entries = Object.entries({ ...metadata, ...change }).filter(([, value]) => value !== '')
  return Object.fromEntries(entries)
}
