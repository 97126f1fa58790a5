import { NodeFront } from '../src/http/node-front.ts'
import { UwsFront } from '../src/http/uws-front.ts'
import { loadUws } from '../src/http/uws-load.ts'
import type { CreateHttpFront } from '../src/http/http-front.ts'
import { describeHotRoutes } from './http-front-contract.ts'
import { describeFallback } from './http-front-fallback-contract.ts'

const createUws = async (): Promise<CreateHttpFront> => {
  const uws = await loadUws('pinned')
  return (options) => new UwsFront(uws, options)
}
const createNode = async (): Promise<CreateHttpFront> => (options) => new NodeFront(options)

describeHotRoutes('uWebSockets.js', createUws)
describeHotRoutes('node:http', createNode)
describeFallback('uWebSockets.js', createUws)
describeFallback('node:http', createNode)
