import type { Slice } from '../../clickhouse/stored-usage.ts'

/** A part of the restore is done. */
export type Moved = {
  readonly kind: 'moved'
  readonly recordsDone: number
  readonly recordsTotal: number
}

/** Counts the processed records. Every record is processed twice: for its mark and for its amount. */
export class RestoreProgress {
  readonly #recordsTotal: number
  #recordsDone = 0

  constructor(slices: readonly Slice[]) {
    this.#recordsTotal = 2 * slices.reduce((sum, { recordsTotal }) => sum + recordsTotal, 0)
  }

  get moved(): Moved {
    return { kind: 'moved', recordsDone: this.#recordsDone, recordsTotal: this.#recordsTotal }
  }

  add({ recordsTotal }: Slice): void {
    this.#recordsDone += recordsTotal
  }
}
