import { z } from 'zod'
import { present } from '../objects/present.ts'
import { createEndpoint, updateEndpoint } from '../objects/webhook-endpoints.ts'
import { ok } from '../answer.ts'
import { listPage } from './list-page.ts'
import { expand, flag, metadata, page, text } from './read-parameters.ts'
import { route, type Route } from './route.ts'

const fields = {
  expand: expand.optional(),
  url: z.url(),
  enabled_events: z.array(text).min(1),
  description: text.optional(),
  metadata: metadata.optional(),
}
const path = '/v1/webhook_endpoints'

export const webhookEndpointRoutes: readonly Route[] = [
  // The secret is only returned by this operation.
  route('POST', path, z.strictObject(fields), (work, wanted) => {
    const endpoint = createEndpoint(work, wanted)
    return ok({ ...present(endpoint), secret: endpoint.simulator.secret })
  }),
  route('GET', path, z.strictObject(page), (work, options) =>
    ok(listPage(work, 'webhook_endpoint', path, options)),
  ),
  route('GET', `${path}/:id`, z.strictObject({}), (work, _, id) =>
    ok(present(work.require('webhook_endpoint', id))),
  ),
  route(
    'POST',
    `${path}/:id`,
    z.strictObject({
      ...fields,
      url: fields.url.optional(),
      enabled_events: fields.enabled_events.optional(),
      disabled: flag.optional(),
    }),
    (work, change, id) => ok(present(updateEndpoint(work, id, change))),
  ),
  route('DELETE', `${path}/:id`, z.strictObject({}), (work, _, id) => {
    work.require('webhook_endpoint', id)
    work.remove('webhook_endpoint', id)
    return ok({ id, object: 'webhook_endpoint', deleted: true })
  }),
]
