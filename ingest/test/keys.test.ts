import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { serviceKeyOf } from '@tollgate/domain/api-keys/service-key'
import { keyMismatchBody } from '@tollgate/schemas/http/errors'
import {
  publicationsProgressKey,
  publicationsStartKey,
  publishedKinds,
  type PublicationsStart,
} from '@tollgate/schemas/hot-state/publications'
import { readFolderSecret } from '@tollgate/platform/service/folder-secret'
import { ownKeyPath } from '@tollgate/schemas/http/own-key'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Installation, providerId } from './installation.ts'

const usages = '/v1/sdk/usages'
const body = '{"customerRef":"u"}'
/** Milliseconds that are longer than `TOLLGATE_CACHE_FRESH_MS` in these tests. */
const freshMs = 150
const unauthorized = {
  statusCode: 401,
  error: 'Unauthorized',
  message: expect.stringContaining('Invalid or expired secret key') as string,
}

describe('secret keys', () => {
  let nowMs = Date.now()
  let installation: Installation
  beforeAll(async () => {
    installation = await Installation.start({ clock: { now: () => nowMs } })
  })
  afterAll(() => installation.remove())

  const sendWith = (authorization: string | undefined) =>
    installation.send(usages, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        ...(authorization === undefined ? {} : { authorization }),
      },
    })

  it('open the routes of their provider', async () => {
    const key = await installation.createKey()
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await sendWith(`${scheme} ${key}`)).status).toBe(200)
    }
  })

  it('are read from X-API-Key if there is no Authorization header', async () => {
    const [key, reading] = [
      await installation.createKey(),
      await installation.createKey('sandbox', null, providerId, ['read']),
    ]
    const sendAs = async (headers: Record<string, string>): Promise<number> => {
      const json = { 'content-type': 'application/json' }
      const init = { method: 'POST', body, headers: { ...json, ...headers } }
      return (await installation.send(usages, init)).status
    }
    for (const isKnown of [false, true]) {
      expect([isKnown, await sendAs({ 'x-api-key': key })]).toEqual([isKnown, 200])
      expect(await sendAs({ 'x-api-key': reading })).toBe(403)
    }
    expect(await sendAs({ 'X-API-Key': 'sk_sandbox_x' })).toBe(401)
    expect(await sendAs({ 'x-api-key': key, authorization: `Bearer ${reading}` })).toBe(403)
    expect(await sendAs({ 'x-api-key': reading, authorization: `Bearer ${key}` })).toBe(200)
  })

  it('record usage only with the scope for it', async () => {
    const before = await installation.stored()
    const reading = await installation.createKey('sandbox', null, providerId, ['read', 'manage'])
    for (let call = 0; call < 2; call += 1) {
      const reply = await sendWith(`Bearer ${reading}`)
      expect({ status: reply.status, ...reply.body }).toMatchObject({
        status: 403,
        statusCode: 403,
        error: 'Forbidden',
        message: 'This key does not have the scope ingest',
      })
    }
    expect(await installation.stored()).toEqual(before)
    const ingesting = await installation.createKey('sandbox', null, providerId, ['ingest'])
    expect((await sendWith(`Bearer ${ingesting}`)).status).toBe(200)
  })

  it('of providers that are not live yet are refused as a mismatch', async () => {
    const key = await installation.createKey('live', null, providerId, undefined, true)
    for (let call = 0; call < 2; call += 1) {
      const reply = await sendWith(`Bearer ${key}`)
      expect({ status: reply.status, ...reply.body }).toMatchObject({
        status: 403,
        ...keyMismatchBody,
      })
    }
  })

  it('that were never issued are refused, whatever their form', async () => {
    const before = await installation.stored()
    const issued = await installation.createKey()
    const mistyped = issued.slice(0, -1) + (issued.endsWith('a') ? 'b' : 'a')
    const unknown = generateSecretKey('sandbox', randomBytes)
    const headers = [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${issued}`,
      issued,
      `Bearer ${mistyped}`,
      `Bearer ${unknown}`,
      `Bearer ${issued}x`,
      `Bearer ${issued} ${issued}`,
      `Bearer ${'x'.repeat(2000)}`,
    ]
    for (const header of headers) {
      const reply = await sendWith(header)
      expect({ header, ...reply.body }).toMatchObject({ header, ...unauthorized })
      expect(reply.status).toBe(401)
    }
    expect(await installation.stored()).toBe(before)
  })

  it('are checked before the body', async () => {
    const reply = await installation.send(usages, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'multipart/form-data' },
    })
    expect(reply.body).toMatchObject(unauthorized)
  })

  it('work immediately after a refusal because they did not exist yet', async () => {
    const key = generateSecretKey('sandbox', randomBytes)
    expect((await sendWith(`Bearer ${key}`)).status).toBe(401)
    const issued = await installation.createKey()
    expect((await sendWith(`Bearer ${issued}`)).status).toBe(200)
  })

  it('stop working after a revocation, within the time that they are cached for', async () => {
    const key = await installation.createKey()
    expect((await sendWith(`Bearer ${key}`)).status).toBe(200)
    await installation.revokeKey(key)
    const deadlineMs = performance.now() + 5_000
    while ((await sendWith(`Bearer ${key}`)).status === 200) {
      expect(performance.now()).toBeLessThan(deadlineMs)
      await sleep(20)
    }
    expect((await sendWith(`Bearer ${key}`)).body).toMatchObject(unauthorized)
  })

  it('stop working at the millisecond at which they expire', async () => {
    const key = await installation.createKey('sandbox', nowMs + 10_000)
    expect((await sendWith(`Bearer ${key}`)).status).toBe(200)
    nowMs += 9_999
    expect((await sendWith(`Bearer ${key}`)).status).toBe(200)
    nowMs += 1
    expect((await sendWith(`Bearer ${key}`)).body).toMatchObject(unauthorized)
  })

  it('record into the environment that they were issued for', async () => {
    const live = await installation.createKey('live')
    const before = [await installation.stored('sandbox'), await installation.stored('live')]
    await sendWith(`Bearer ${live}`)
    expect([await installation.stored('sandbox'), await installation.stored('live')]).toEqual([
      before[0]!,
      before[1]! + 1,
    ])
  })

  describe('with documents that the hot state has lost', () => {
    const unavailable = {
      statusCode: 503,
      message: 'Published settings cannot be read now, try again',
    }
    let controlPlane: Installation['controlPlane']
    beforeEach(() => {
      controlPlane = installation.controlPlane
    })
    afterEach(async () => {
      installation.controlPlane = controlPlane
      await installation.publishAll(publishedKinds)
    })

    it('work while they are cached, and are not refused afterwards, without a control plane', async () => {
      const known = await installation.createKey()
      const forgotten = await installation.createKey()
      expect((await sendWith(`Bearer ${known}`)).status).toBe(200)
      await loseEverything([known, forgotten])
      await sleep(freshMs)
      expect((await sendWith(`Bearer ${known}`)).status).toBe(200)
      expect((await sendWith(`Bearer ${forgotten}`)).body).toMatchObject(unavailable)
    })

    it('are refused again once all keys are published, while other documents are still missing', async () => {
      const revoked = await installation.createKey()
      expect((await sendWith(`Bearer ${revoked}`)).status).toBe(200)
      await loseEverything([revoked])
      await installation.publishAll([])
      await sleep(freshMs)
      expect((await sendWith(`Bearer ${revoked}`)).status).toBe(200)
      await installation.publishAll(['api-key'])
      await sleep(freshMs)
      expect((await sendWith(`Bearer ${revoked}`)).body).toMatchObject(unauthorized)
    })

    it('are read from the control plane, once per cache period', async () => {
      const known = await installation.createKey()
      const revoked = await installation.createKey()
      await loseEverything([known, revoked])
      const requestedUrls: string[] = []
      installation.controlPlane = (request, response) => {
        requestedUrls.push(request.url ?? '')
        const isKnown = request.headers.authorization === `Bearer ${known}`
        const own = { keyId: 'key_1', providerId, environment: 'sandbox', expiresAtMs: null }
        response.writeHead(isKnown ? 200 : 401).end(isKnown ? JSON.stringify(own) : '{}')
      }
      expect((await sendWith(`Bearer ${known}`)).status).toBe(200)
      expect((await sendWith(`Bearer ${revoked}`)).body).toMatchObject(unauthorized)
      await sleep(freshMs)
      expect((await sendWith(`Bearer ${known}`)).status).toBe(200)
      expect(requestedUrls).toEqual([ownKeyPath, ownKeyPath])
    })

    it('are not refused while the hot state is not the one that was published to', async () => {
      const { hotState } = installation
      const document = (await hotState.readDocument(publicationsStartKey)) ?? ''
      const start = { ...(JSON.parse(document) as PublicationsStart), incarnation: 'another' }
      await hotState.putDocument(publicationsStartKey, JSON.stringify(start))
      const key = generateSecretKey('sandbox', randomBytes)
      expect((await sendWith(`Bearer ${key}`)).body).toMatchObject(unavailable)
    })

    async function loseEverything(keys: readonly string[]): Promise<void> {
      for (const key of keys) await installation.revokeKey(key)
      await installation.hotState.deleteDocument(publicationsStartKey)
      await installation.hotState.deleteDocument(publicationsProgressKey)
    }
  })
})

describe('service keys', () => {
  const secret = 'a secret that the services of this test share'
  let installation: Installation
  beforeAll(async () => {
    installation = await Installation.start({ settings: { TOLLGATE_SERVICE_SECRET: secret } })
  })
  afterAll(() => installation.remove())

  const postAs = (key: string, of = installation) => of.post(usages, key, body)
  const keyOf = (environment: 'sandbox' | 'live', holder = providerId, made = secret) =>
    serviceKeyOf(made, { environment, providerId: holder })

  it('record usage for the provider and environment that they name', async () => {
    const answers = await Promise.all(
      ['prv_ONE', 'prv_TWO'].map((holder) => postAs(keyOf('sandbox', holder))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    // The second request is answered from the cache.
    expect((await postAs(keyOf('sandbox', 'prv_ONE'))).status).toBe(200)
    const events = await installation.events()
    expect(events.map((event) => event.providerId).sort()).toEqual([
      'prv_ONE',
      'prv_ONE',
      'prv_TWO',
    ])
    expect(await installation.events('live')).toEqual([])
  })

  it('are malformed keys with another secret, provider or environment', async () => {
    const mac = keyOf('sandbox').slice(-32)
    for (const key of [
      keyOf('sandbox', providerId, `${secret}!`),
      `tgs_live_${providerId}_${mac}`,
      `tgs_sandbox_prv_OTHER_${mac}`,
    ]) {
      const { status, body: refusal } = await postAs(key)
      expect([status, refusal['code']]).toEqual([401, 'malformed_key'])
    }
  })

  it('of live providers are accepted once the control plane has confirmed that the provider is live', async () => {
    let isMisplaced = true
    const requestedUrls: string[] = []
    installation.controlPlane = (request, response) => {
      requestedUrls.push(`${request.url} ${request.headers.authorization}`)
      const key = { keyId: 'service', providerId, environment: 'live', expiresAtMs: null }
      response.writeHead(200).end(JSON.stringify({ ...key, isMisplaced }))
    }
    const early = await postAs(keyOf('live'))
    expect([early.status, early.body['message']]).toEqual([403, keyMismatchBody.message])
    isMisplaced = false
    await sleep(freshMs)
    expect((await postAs(keyOf('live'))).status).toBe(200)
    expect(new Set(requestedUrls)).toEqual(new Set([`${ownKeyPath} Bearer ${keyOf('live')}`]))
    const askedCount = requestedUrls.length
    await sleep(freshMs)
    installation.controlPlane = (_, response) => response.destroy()
    expect((await postAs(keyOf('live'))).status).toBe(200)
    expect(requestedUrls).toHaveLength(askedCount)
  })

  it('are signed with the secret of the data folder if no other is configured', async () => {
    await installation.restart()
    const folderSecret = await readFolderSecret(installation.dataDir)
    expect((await postAs(keyOf('sandbox', providerId, folderSecret))).status).toBe(200)
    expect((await postAs(keyOf('sandbox'))).status).toBe(401)
  })
})
