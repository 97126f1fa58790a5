import type { Metadata } from '../store/records.ts'

/** Changes of metadata. An empty value removes its key, and an empty string instead of the object removes all keys. */
export type MetadataChange = '' | Readonly<Record<string, string>>

export function changedMetadata(metadata: Metadata, change: MetadataChange | undefined): Metadata {
  if (change === undefined) return metadata
  if (change === '') return {}
  const entries = Object.entries({ ...metadata, ...change }).filter(([, value]) => value !== '')
  return Object.fromEntries(entries)
}
