import { createNodeFront, createUwsFront } from './front-under-test.ts'
import { describeHotRoutes } from './http-front-contract.ts'
import { describeFallback } from './http-front-fallback-contract.ts'

describeHotRoutes('uWebSockets.js', createUwsFront)
describeHotRoutes('node:http', createNodeFront)
describeFallback('uWebSockets.js', createUwsFront)
describeFallback('node:http', createNodeFront)
