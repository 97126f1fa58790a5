/** A stored fact that readers of the log need. */
export type LogNote =
  | {
      readonly kind: 'partitions'
      /** Name of the topic without the prefix of the installation. */
      readonly topic: string
      /** Number of partitions that its records were placed on. */
      readonly count: number
    }
  | {
      readonly kind: 'schema'
      readonly subject: string
      /** Schema id that precedes the records written with the schema. */
      readonly id: number
      readonly schema: string
    }

/** Returns undefined for a note of a kind that only newer releases know. */
export function parseLogNote(value: Uint8Array): LogNote | undefined {
  const note = JSON.parse(Buffer.from(value).toString('utf8')) as LogNote
  return note.kind === 'partitions' || note.kind === 'schema' ? note : undefined
}
