import { DataFolderError } from '../lmdb/environment.ts'

/** What an operator can do about it. */
export const repairHint =
  'Run `npm run tollgate -- log verify` and see "A damaged log" in docs/operations.md.'

/** Records of a partition cannot be read, because a segment of the log on this machine is damaged or missing. */
export class LogDamagedError extends DataFolderError {
  /** The first offset of the partition behind the damage. */
  readonly readableFrom: number

  constructor(cause: Error, readableFrom: number) {
    super(`${cause.message} ${repairHint}`, { cause })
    this.readableFrom = readableFrom
  }
}
