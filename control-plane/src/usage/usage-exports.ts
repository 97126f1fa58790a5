import type { Readable } from 'node:stream'
import {
  UsageStoreStatementError,
  type UsageStore,
} from '@tollgate/platform/usage-store/usage-store'
import { invalidField, refusals } from '../errors.ts'

export type UsageExportLimits = {
  /** Maximum number of files that are sent at the same time. */
  readonly usageExportsMax: number
  readonly usageExportRowsMax: number
  /** Maximum duration of one file, in seconds. A client that reads more slowly gets an incomplete response. */
  readonly usageExportSecondsMax: number
}

type FileStatement = {
  readonly text: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Bytes of a row in the memory of ClickHouse: three dimensions of the maximum length and the numbers. */
const rowBytesMax = 1_024

/** ClickHouse's numbers of the errors TOO_MANY_ROWS and TOO_MANY_ROWS_OR_BYTES. */
const tooManyRows: ReadonlySet<number> = new Set([158, 396])

/**
 * Streams the results of usage queries as files. A file is never in the memory of this process: ClickHouse has the whole result
 * before the first byte, and the client's pace decides how fast it is read. The number of files at a time is limited, because each
 * occupies a connection, and memory or disk of ClickHouse.
 */
export class UsageExports {
  readonly #store: Pick<UsageStore, 'stream'>
  readonly #limits: UsageExportLimits
  #count = 0

  constructor(store: Pick<UsageStore, 'stream'>, limits: UsageExportLimits) {
    this.#store = store
    this.#limits = limits
  }

  /** Throws a refusal with status 503 if too many files are being sent, and 400 if the file would have too many rows. */
  async open(
    { text, parameters }: FileStatement,
    format: 'CSVWithNames' | 'Parquet',
  ): Promise<Readable> {
    const { usageExportsMax, usageExportRowsMax: rowsMax, usageExportSecondsMax } = this.#limits
    if (this.#count >= usageExportsMax) throw refusals.tooManyExports()
    this.#count += 1
    let isOpen = true
    const close = (): void => {
      if (isOpen) this.#count -= 1
      isOpen = false
    }
    try {
      const bytesMax = rowsMax * rowBytesMax
      const stream = await this.#store.stream(text, parameters, { format, rowsMax, bytesMax })
      const timer = setTimeout(() => stream.destroy(), usageExportSecondsMax * 1_000)
      stream.once('close', () => {
        clearTimeout(timer)
        close()
      })
      return stream
    } catch (error) {
      close()
      if (error instanceof UsageStoreStatementError && tooManyRows.has(error.code)) {
        throw invalidField(
          'to',
          `The file would have more than ${rowsMax} rows. Use a shorter range or fewer dimensions`,
        )
      }
      throw error
    }
  }
}
