import { pipeline, Transform, type Readable } from 'node:stream'
import {
  UsageStoreStatementError,
  type UsageStore,
} from '@tollgate/platform/usage-store/usage-store'
import { invalidField, refusals } from '../errors.ts'

export type UsageExportLimits = {
  /** Maximum number of files that are sent at the same time. */
  readonly usageExportsMax: number
  /** Maximum number of files of one provider, of both environments, that are sent at the same time. */
  readonly usageExportsPerProviderMax: number
  readonly usageExportRowsMax: number
  /** Maximum duration of one file, in seconds. A client that reads more slowly gets an incomplete response. */
  readonly usageExportSecondsMax: number
  /** Maximum time in which a client takes nothing of a file, in seconds. After it, the response ends incomplete. */
  readonly usageExportStallSecondsMax: number
}

export type FileStatement = {
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
 * occupies a connection, and memory or disk of ClickHouse. A provider gets only some of them, and a client that stops reading loses
 * its place, so that slow clients of one provider do not keep files from the others.
 */
export class UsageExports {
  readonly #store: Pick<UsageStore, 'stream'>
  readonly #limits: UsageExportLimits
  #count = 0
  /** Number of files by provider. A provider without one has no entry. */
  readonly #counts = new Map<string, number>()

  constructor(store: Pick<UsageStore, 'stream'>, limits: UsageExportLimits) {
    this.#store = store
    this.#limits = limits
  }

  /**
   * Throws a refusal with status 429 if too many files of the provider are being sent, 503 if too many of all providers are, and 400
   * if the file would have too many rows.
   */
  async open(
    providerId: string,
    { text, parameters }: FileStatement,
    format: 'CSVWithNames' | 'Parquet',
  ): Promise<Readable> {
    const rowsMax = this.#limits.usageExportRowsMax
    const leave = this.#enter(providerId)
    try {
      const bytesMax = rowsMax * rowBytesMax
      const source = await this.#store.stream(text, parameters, { format, rowsMax, bytesMax })
      return this.#paced(source, leave)
    } catch (error) {
      leave()
      if (error instanceof UsageStoreStatementError && tooManyRows.has(error.code)) {
        throw invalidField(
          'to',
          `The file would have more than ${rowsMax} rows. Use a shorter range or fewer dimensions`,
        )
      }
      throw error
    }
  }

  /** Counts a file. Returns a function that ends the count. */
  #enter(providerId: string): () => void {
    const ofProvider = this.#counts.get(providerId) ?? 0
    if (ofProvider >= this.#limits.usageExportsPerProviderMax) {
      throw refusals.tooManyOwnExports(ofProvider)
    }
    if (this.#count >= this.#limits.usageExportsMax) throw refusals.tooManyExports()
    this.#count += 1
    this.#counts.set(providerId, ofProvider + 1)
    return () => {
      this.#count -= 1
      const rest = (this.#counts.get(providerId) ?? 0) - 1
      if (rest > 0) this.#counts.set(providerId, rest)
      else this.#counts.delete(providerId)
    }
  }

  /** Returns the source, which ends incomplete if the client is too slow. `leave` is called once, when the file ends in any way. */
  #paced(source: Readable, leave: () => void): Readable {
    const { usageExportSecondsMax, usageExportStallSecondsMax } = this.#limits
    const end = (): void => void file.destroy()
    const whole = setTimeout(end, usageExportSecondsMax * 1_000)
    const stall = setTimeout(end, usageExportStallSecondsMax * 1_000)
    const file = new Transform({
      // A chunk passes only if the client has read enough of those before.
      transform(chunk, _encoding, done) {
        stall.refresh()
        done(null, chunk)
      },
    })
    // A source that breaks off destroys the file, and a file that ends destroys the source, which frees its connection.
    pipeline(source, file, () => {
      clearTimeout(whole)
      clearTimeout(stall)
      leave()
    })
    return file
  }
}
