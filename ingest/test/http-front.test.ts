import { describe } from 'vitest'
import { createNodeFront, createUwsFront, lacksGlibcOfUws } from './front-under-test.ts'
import { describeHotRoutes } from './http-front-contract.ts'
import { describeFallback } from './http-front-fallback-contract.ts'

describe.skipIf(lacksGlibcOfUws)('the native front', () => {
  describeHotRoutes('uWebSockets.js', createUwsFront)
  describeFallback('uWebSockets.js', createUwsFront)
})
describeHotRoutes('node:http', createNodeFront)
describeFallback('node:http', createNodeFront)
