import kafkajs from 'kafkajs'
import type { KafkajsBroker } from './kafkajs-internals.ts'

const setting = 'offsets.retention.minutes'

/**
 * Throws if a broker deletes positions sooner than `minutes`. Any broker may store the positions of a group, so all of them are
 * checked.
 */
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

/** Reads the setting of a broker. Requires the permission DescribeConfigs. */
async function readSetting(id: number, broker: KafkajsBroker): Promise<number> {
  const resource = {
    // Node does not find this named export in the CommonJS package, although its types declare it.
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
