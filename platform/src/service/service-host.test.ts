import { expect, test } from 'vitest'
import { createMetrics } from '../observability/metrics.ts'
import { hostService, type Host } from './service-host.ts'

const address = { adminHost: '127.0.0.1', adminPort: 0 }

function world() {
  const events: string[] = []
  const service = (name: string) => ({
    start: async () => void events.push(`start ${name}`),
    stop: async () => void events.push(`stop ${name}`),
  })
  const part = (name: string) => ({ close: async () => void events.push(`close ${name}`) })
  return { events, service, part }
}

async function isHealthServed(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined)
  return answer?.status === 200
}

test('starts in order, stops in reverse, serves health until all has stopped, then closes parts', async () => {
  const { events, service, part } = world()
  const served: boolean[] = []
  let port = 0
  const hosted = hostService(address, { port: 1 }, async (host) => {
    await host.own(part('database'))
    await host.start({
      ...service('jobs'),
      stop: async () => void served.push(await isHealthServed(port)),
    })
    await host.start(service('front'))
    await host.own({ close: async () => void served.push(await isHealthServed(port)) })
    await host.serveHealth(createMetrics('test'), [])
    return { port: 2 }
  })
  expect(hosted).toMatchObject({ port: 1, adminPort: 0 })
  await hosted.start()
  port = hosted.adminPort
  expect(port).toBeGreaterThan(0)
  expect(hosted.port).toBe(2)
  await hosted.stop()
  await hosted.stop()
  expect(events).toEqual(['start jobs', 'start front', 'stop front', 'close database'])
  expect(served).toEqual([true, false])
  expect(hosted).toMatchObject({ port: 1, adminPort: 0 })
})

test('stops and closes what a failed start leaves, throws its reason, and may be started again', async () => {
  const { events, service, part } = world()
  let fails = true
  const open = async (host: Host): Promise<object> => {
    await host.own(part('database'))
    await host.start(service('jobs'))
    await host.start({
      start: () => (fails ? Promise.reject(new Error('the port is taken')) : Promise.resolve()),
      stop: service('front').stop,
    })
    return {}
  }
  const hosted = hostService(address, {}, open)
  await expect(hosted.start()).rejects.toThrow('the port is taken')
  expect(events).toEqual(['start jobs', 'stop front', 'stop jobs', 'close database'])
  fails = false
  await hosted.start()
  await hosted.stop()
  expect(events.slice(4)).toEqual(['start jobs', 'stop front', 'stop jobs', 'close database'])
})
