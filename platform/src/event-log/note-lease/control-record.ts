import type { Home } from './home-notes.ts'

/** A record of the control topic: where acknowledged heads are noted from now on. */
export type ControlRecord = {
  /** Each record that counts has the next number. Of several with one number, the first counts. */
  readonly number: number
  /** Null if checks must ask the log. */
  readonly home: Home | null
}

/** Stands for the record before the first one: checks ask the log. */
export const noRecord: ControlRecord = { number: 0, home: null }

export function packRecord({ number, home }: ControlRecord): Buffer {
  return Buffer.from(JSON.stringify({ number, home }), 'utf8')
}

export function parseRecord(value: Uint8Array): ControlRecord {
  return JSON.parse(Buffer.from(value).toString('utf8')) as ControlRecord
}
