import type { KafkaCluster } from './kafka-cluster.ts'

/** Identifies a producer at the brokers. */
export type ProducerSession = { readonly producerId: string; readonly producerEpoch: number }

/** Transactions are not used, but the request requires a timeout. */
const transactionTimeoutMs = 60_000

export async function openProducerSession(cluster: KafkaCluster): Promise<ProducerSession> {
  const broker = await cluster.anyBroker()
  const { producerId, producerEpoch } = await broker.initProducerId({
    transactionTimeout: transactionTimeoutMs,
  })
  return { producerId, producerEpoch }
}
