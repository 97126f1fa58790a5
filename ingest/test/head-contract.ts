import { expect, it } from 'vitest'
import type { CreateHttpFront } from '../src/http/http-front.ts'
import { FrontUnderTest } from './front-under-test.ts'
import { requestText } from './raw-connection.ts'

/* The behaviour of every HttpFront when it reads the heads of requests. */

export function describeRequestIds(under: () => FrontUnderTest): void {
  it.each([
    ['mine-1', /^mine-1$/],
    ['a b', /^req_[0-9a-f]{24}$/],
    ['a'.repeat(129), /^req_/],
  ])(
    'gives a request %s as its id, in the response and in the forwarded request',
    async (given, expected) => {
      let passedOn: string | undefined
      under().fallback = async ({ requestId }) => {
        passedOn = requestId
        return { status: 404, headers: [], body: '{}' }
      }
      const connection = await under().connect()
      const headers = { 'X-Request-Id': given }
      for (const target of ['/echo', '/elsewhere', '/throws']) {
        await connection.write(requestText({ target, headers }, '{}'))
        const answer = await connection.answer()
        const named = answer?.headers.get('x-request-id')
        expect(named).toMatch(expected)
        if (target === '/elsewhere') expect(passedOn).toBe(named)
        if (target === '/throws')
          expect(JSON.parse(answer!.body)).toMatchObject({ requestId: named })
      }
    },
  )
}

export function describeTraceHeaders(create: () => Promise<CreateHttpFront>): void {
  it.each([
    [true, { traceparent: '00-a-b-01', tracestate: 'c=1' }],
    [false, 'not read'],
  ])('reads the trace headers of the caller only if tracing is on: %s', async (isAsked, trace) => {
    const traced = new FrontUnderTest(await create(), isAsked)
    await traced.listen()
    try {
      const connection = await traced.connect()
      const headers = { Traceparent: '00-a-b-01', Tracestate: 'c=1' }
      await connection.write(requestText({ target: '/traced', headers }, '{}'))
      expect(JSON.parse((await connection.answer())!.body)).toEqual({ trace })
    } finally {
      await traced.close()
    }
  })
}
