import type { KafkaCluster } from './kafka-cluster.ts'

/** What a broker knows a producer by. */
export type ProducerSession = { readonly producerId: string; readonly producerEpoch: number }

/** The coordinator's transactions are not used; the request wants the number all the same. */
const transactionTimeoutMs = 60_000

export async function openProducerSession(cluster: KafkaCluster): Promise<ProducerSession> {
  const broker = await cluster.anyBroker()
  const { producerId, producerEpoch } = await broker.initProducerId({
    transactionTimeout: transactionTimeoutMs,
  })
  return { producerId, producerEpoch }
}
