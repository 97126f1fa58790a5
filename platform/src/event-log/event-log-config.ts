import type { SettingValues } from '../config/settings.ts'
import type { Logger } from '../observability/logger.ts'
import type { EventLog } from './event-log.ts'
import type {
  eventLogGroupSettings,
  eventLogSettings,
  eventLogWriterSettings,
} from './event-log-settings.ts'
import type { ValueSchemas } from './value-schemas.ts'

export type EventLogConfig = SettingValues<typeof eventLogSettings> &
  Partial<SettingValues<typeof eventLogGroupSettings>> & { readonly dataDir: string }

export type EventLogWriterConfig = EventLogConfig & SettingValues<typeof eventLogWriterSettings>

export type EventLogUse = {
  readonly topics: readonly string[]
  readonly values: ValueSchemas
  readonly logger: Logger
}

export type WritableEventLog = {
  readonly log: EventLog
  /** Id of the Avro schema, which precedes every appended value. */
  readonly schemaId: number
  close(): Promise<void>
}
