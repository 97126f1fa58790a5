/** One thing that readers of the log must know. */
export type LogNote =
  | {
      readonly kind: 'partitions'
      /** Without the prefix of the installation. */
      readonly topic: string
      /** On so many partitions its records were placed. */
      readonly count: number
    }
  | {
      readonly kind: 'schema'
      readonly subject: string
      /** Stands in front of the records that were written with the schema. */
      readonly id: number
      readonly schema: string
    }

/** Returns undefined for a note of a kind that only newer releases know. */
export function parseLogNote(value: Uint8Array): LogNote | undefined {
  const note = JSON.parse(Buffer.from(value).toString('utf8')) as LogNote
  return note.kind === 'partitions' || note.kind === 'schema' ? note : undefined
}
