import { host } from '@tollgate/deploy/standalone/ports'
import type { BrokerPorts } from './port-plan.ts'

/**
 * Returns the properties of a broker that is also a controller, in a cluster of 1 or 3. `index` counts from 0, node ids count from
 * 1.
 */
export function kafkaProperties(
  brokers: readonly BrokerPorts[],
  index: number,
  dataFolder: string,
  isShortLived = false,
): Record<string, string> {
  const { port, controllerPort } = brokers[index]!
  const replicas = String(brokers.length)
  const replicasInSync = brokers.length > 1 ? '2' : '1'
  const voters = brokers.map((broker, at) => `${at + 1}@${host}:${broker.controllerPort}`)
  return {
    'process.roles': 'broker,controller',
    'node.id': String(index + 1),
    'controller.quorum.voters': voters.join(','),
    listeners: `PLAINTEXT://${host}:${port},CONTROLLER://${host}:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://${host}:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': dataFolder,
    // A misspelled topic must be an error and not create a new topic.
    'auto.create.topics.enable': 'false',
    'default.replication.factor': replicas,
    'min.insync.replicas': replicasInSync,
    'offsets.topic.replication.factor': replicas,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': replicasInSync,
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': replicasInSync,
    // Fewer partitions than the default of 50 each create fewer files, and one machine needs no more.
    'offsets.topic.num.partitions': '8',
    'transaction.state.log.num.partitions': '8',
    // The first consumer of a group does not wait for others to join.
    'group.initial.rebalance.delay.ms': '0',
    // The leader of a killed broker's partitions is replaced after 6 seconds instead of the default of 9, and the broker itself may
    // join again. Tests that kill brokers wait for both.
    'broker.session.timeout.ms': isShortLived ? '3000' : '6000',
    'broker.heartbeat.interval.ms': isShortLived ? '500' : '1000',
    // The default of 128 MiB is a quarter of the heap.
    'log.cleaner.dedupe.buffer.size': String(16 * 1_048_576),
  }
}

export function asPropertiesFile(properties: Readonly<Record<string, string>>): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}
