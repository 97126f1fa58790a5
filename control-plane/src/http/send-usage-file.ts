import type { FastifyReply } from 'fastify'
import type { TimeRange } from '../domain/usage-buckets.ts'
import type { FileStatement, UsageExports } from '../usage/usage-exports.ts'

const files = {
  csv: { type: 'text/csv; charset=utf-8', engineFormat: 'CSVWithNames' },
  parquet: { type: 'application/vnd.apache.parquet', engineFormat: 'Parquet' },
} as const

type UsageFile = {
  readonly providerId: string
  /** The name of the file contains the days of the range. */
  readonly range: TimeRange
  readonly statement: FileStatement
  readonly format: keyof typeof files
}

/**
 * Sends the result of the statement as a file. The reply is not of the type of the JSON response, so the schema of the route does not
 * apply to it.
 */
export async function sendUsageFile(
  reply: FastifyReply,
  exports: UsageExports,
  { providerId, range, statement, format }: UsageFile,
): Promise<never> {
  const { type, engineFormat } = files[format]
  const stream = await exports.open(providerId, statement, engineFormat)
  const days = [range.startMs, range.endMs].map((ms) => new Date(ms).toISOString().slice(0, 10))
  return reply
    .type(type)
    .header('content-disposition', `attachment; filename="usage-${days.join('-')}.${format}"`)
    .header('cache-control', 'private, no-store')
    .send(stream) as never
}
