import { DataFolderError } from '../lmdb/environment.ts'

/** Advice for operators. */
export const repairHint =
  'Run `npm run tollgate -- log verify` and see "A damaged log" in docs/operations.md.'

/** Records of a partition cannot be read, because a segment of the embedded log is damaged or missing. */
export class LogDamagedError extends DataFolderError {
  /** First readable offset of the partition after the damage. */
  readonly readableFrom: number

  constructor(cause: Error, readableFrom: number) {
    super(`${cause.message} ${repairHint}`, { cause })
    this.readableFrom = readableFrom
  }
}
