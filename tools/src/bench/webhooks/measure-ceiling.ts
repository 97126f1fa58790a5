import { Agent, request } from 'node:http'
import { generateReference } from '@tollgate/domain/unit-of-work/generate-reference'
import { webhookRequest } from '@tollgate/domain/webhooks/webhook-request'
import { runLanes, times } from '../../load/lanes.ts'
import type { Rig } from './rig.ts'

const concurrentPosts = 64
const body = JSON.stringify({ id: 'evt_ceiling', filler: 'x'.repeat(980) })

/**
 * Measures the deliveries per second of one process that only signs 1 kB and posts it with Node's client, without a queue, address
 * checks or records of attempts. It is the upper bound for a dispatcher.
 */
export async function measureCeiling(rig: Rig, deliveries: number): Promise<number> {
  await rig.clear()
  const agent = new Agent({ keepAlive: true, maxSockets: concurrentPosts })
  const startedAtMs = performance.now()
  await runLanes(concurrentPosts, times(deliveries), () => post(agent, rig.sink.url))
  const seconds = (performance.now() - startedAtMs) / 1_000
  agent.destroy()
  const { distinct } = await rig.sink.count()
  return distinct / seconds
}

function post(agent: Agent, url: string): Promise<void> {
  const delivery = {
    eventId: 'evt_ceiling',
    deliveryRef: generateReference('webhookDelivery'),
    attempt: 1,
    body,
  }
  const { headers, body: bytes } = webhookRequest(delivery, ['whsec_ceiling'], new Date())
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST', headers }, (answer) => {
      answer.resume().once('end', resolve)
    })
    sent.once('error', reject).end(bytes)
  })
}
