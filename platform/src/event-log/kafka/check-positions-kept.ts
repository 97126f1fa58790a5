import kafkajs from 'kafkajs'
import type { KafkajsBroker } from './kafkajs-internals.ts'

const setting = 'offsets.retention.minutes'

/** Any broker may keep the positions of a group, so each of them is asked what it was started with. */
export async function checkPositionsKept(
  brokers: ReadonlyMap<number, KafkajsBroker>,
  minutes: number,
): Promise<void> {
  await Promise.all(
    [...brokers].map(async ([id, broker]) => {
      const kept = await readSetting(id, broker)
      if (kept >= minutes) return
      throw new Error(
        `Broker ${id} forgets the position of a projection that stands still for ${kept} minutes. Set its ${setting} to ${minutes} or more.`,
      )
    }),
  )
}

/** Needs the right to describe the cluster's configuration. */
async function readSetting(id: number, broker: KafkajsBroker): Promise<number> {
  const resource = {
    // Node finds no such named export in this CommonJS package, although the types have it.
    type: kafkajs.ConfigResourceTypes.BROKER,
    name: String(id),
    configNames: [setting],
  }
  const { resources } = await broker.describeConfigs({ resources: [resource] })
  const entries = resources.flatMap(({ configEntries }) => configEntries)
  const value = entries.find(({ configName }) => configName === setting)?.configValue
  if (value === undefined || value === null) {
    throw new Error(
      `Broker ${id} does not tell its ${setting}. Allow DescribeConfigs on the cluster.`,
    )
  }
  return Number(value)
}
