import type { EventLog } from '@tollgate/platform/event-log/event-log'

/** As much of the event log as clients of Kafka are compared in. A client that reads by groups alone cannot read here. */
export type ClientLog = Pick<EventLog, 'append' | 'close'> & {
  readonly reader?: Pick<EventLog, 'head' | 'read'>
}
