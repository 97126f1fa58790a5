import { ClickHouseError } from '@clickhouse/client'
import { connect, type ClickHouseConnection } from './clickhouse-usage-store.ts'

/** ClickHouse refused a statement. The message is its own text. */
export class StatementRefusedError extends Error {
  override readonly name = 'StatementRefusedError'
}

/** Runs statements that people typed, and returns results as ClickHouse formats them. */
export type StatementRunner = {
  /**
   * Runs a statement and writes the result in `format`, unless the statement names a format. Returns the number of bytes. Rejects
   * with a StatementRefusedError if ClickHouse refuses it.
   */
  run(
    text: string,
    format: string,
    write: (chunk: Buffer) => void,
    signal?: AbortSignal,
  ): Promise<number>
  close(): Promise<void>
}

export function createStatementRunner(connection: ClickHouseConnection): StatementRunner {
  const client = connect(connection)
  return {
    async run(text, format, write, signal) {
      try {
        const { stream } = await client.exec({
          query: text,
          http_headers: { 'X-ClickHouse-Format': format },
          ...(signal === undefined ? {} : { abort_signal: signal }),
        })
        let bytes = 0
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          bytes += chunk.length
          write(chunk)
        }
        return bytes
      } catch (error) {
        if (!(error instanceof ClickHouseError)) throw error
        const { code, type = '', message } = error
        throw new StatementRefusedError(`Code: ${code}. DB::Exception: ${message.trim()} (${type})`)
      }
    },
    close: () => client.close(),
  }
}
