import { GatewayException } from '../exception.ts'

/** Limits of one statement, so that reading never takes the memory or CPU time that storing needs. */
const bounds = {
  max_execution_time: 300,
  max_memory_usage: 2_000_000_000,
  max_result_bytes: 256 * 1024 * 1024,
  max_threads: 2,
} as const

/** Settings of the output format. `output_format_schema` is not included, because it writes a file. */
const formSettings =
  /^(output_format_(arrow|csv|decimal|json|orc|parquet|pretty|tsv|values|write)_\w+|date_time_output_format|session_timezone|join_use_nulls|extremes|limit|offset|max_result_rows|result_overflow_mode|max_block_size|enable_http_compression|send_progress_in_http_headers|http_headers_progress_interval_ms|cancel_http_readonly_queries_on_client_close)$/

/**
 * Returns the settings of a reader's statement: those that the request may choose, within the limits, and `readonly = 1`, which the
 * engine does not allow to be changed back. Throws for any other setting.
 */
export function readerSettings(given: ReadonlyMap<string, string>): Map<string, string> {
  const settings = new Map<string, string>()
  for (const [name, value] of given) {
    if (name === 'readonly' && ['1', '2'].includes(value)) continue
    if (!(name in bounds) && !formSettings.test(name)) {
      const message = `Cannot modify '${name}' setting in readonly mode.`
      throw new GatewayException(164, 'READONLY', message)
    }
    settings.set(name, value)
  }
  for (const [name, max] of Object.entries(bounds)) {
    const wanted = Number(settings.get(name) ?? max)
    if (!(wanted > 0 && wanted <= max)) {
      const message = `Setting ${name} should be greater than 0 and at most ${max}.`
      throw new GatewayException(452, 'SETTING_CONSTRAINT_VIOLATION', message)
    }
    settings.set(name, String(wanted))
  }
  return settings.set('readonly', '1')
}
