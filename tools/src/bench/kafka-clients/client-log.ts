import type { EventLog } from '@tollgate/platform/event-log/event-log'

/**
 * The part of the event log in which clients of Kafka are compared. A client that can only read as a member of a group has no
 * reader.
 */
export type ClientLog = Pick<EventLog, 'append' | 'close'> & {
  readonly reader?: Pick<EventLog, 'head' | 'read'>
}
