import type { LogPositions } from '@tollgate/domain/postgres/log-positions'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import { sinkGroup } from '@tollgate/schemas/consumer-groups'
import type { Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import type { JobParts } from './repeating.ts'

/** Returns the offset of each partition before which every record is stored. */
export async function readSinkPositions(
  { eventLog, publisher }: Pick<JobParts, 'publisher'> & { readonly eventLog: EventLog },
  environment: Environment,
): Promise<LogPositions> {
  const topic = usageTopic(environment)
  const partitions = Array.from({ length: publisher.partitionCount(environment) }, (_, at) => at)
  const positions = await Promise.all(
    partitions.map((partition) => eventLog.position(sinkGroup, topic, partition)),
  )
  // An empty note means that no sink has started, or that its position was lost.
  return new Map(positions.map(({ offset, note }, at) => [at, note === '' ? 0 : offset]))
}
