import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import type { PlaceEvent } from '../domain/placed-event.ts'

export function createEventPlacer(log: Pick<EventLog, 'partitionCount'>): PlaceEvent {
  const counts = Object.fromEntries(
    environments.map((environment) => [environment, log.partitionCount(usageTopic(environment))]),
  ) as Record<Environment, number>
  return (environment, event) => {
    const subject = subjectKey(event.providerId, event.customerRef)
    return { event, subject, partition: partitionOf(subject, counts[environment]) }
  }
}
