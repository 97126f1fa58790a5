/* Descriptions of bodies for which routes have no schema, by method and path of the operation. */

const imageContent = { schema: { type: 'string', contentMediaType: 'application/octet-stream' } }

function contentOfImageTypes(mediaType: object): Record<string, object> {
  const types = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
  return Object.fromEntries(types.map((type) => [type, mediaType]))
}

export const describedRequestBodies: Readonly<Record<string, object>> = {
  'put /v1/ui/merchant/{kind}': { required: true, content: contentOfImageTypes(imageContent) },
}

const openObject = { type: 'object', additionalProperties: true }

const pdf = {
  'application/pdf': { schema: { type: 'string', contentMediaType: 'application/pdf' } },
}

export const describedResponses: Readonly<Record<string, object>> = {
  'get /v1/ui/invoices/{invoiceRef}/pdf': { description: 'The invoice as PDF', content: pdf },
  'get /v1/ui/invoices/{invoiceRef}/credit-notes/{creditNoteRef}/pdf': {
    description: 'The credit note as PDF',
    content: pdf,
  },
  'get /v1/files/public/provider-assets/{sha256}': {
    description: 'The image. A changed image has another address',
    // The image has no schema, so that documentation pages do not invent example bytes for it.
    content: contentOfImageTypes({}),
  },
  'get /v1/openapi.json': {
    description: 'This description',
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required: ['openapi', 'info', 'paths'],
          properties: {
            openapi: { type: 'string' },
            info: openObject,
            paths: openObject,
            components: openObject,
          },
        },
        examples: {
          'Beginning of the description': {
            value: { openapi: '3.1.0', info: { title: 'Tollgate', version: '1.0' }, paths: {} },
          },
        },
      },
    },
  },
}

const csv = { schema: { type: 'string' } }
const parquet = { schema: { type: 'string', contentMediaType: 'application/octet-stream' } }
const usageFiles = { 'text/csv': csv, 'application/vnd.apache.parquet': parquet }

/** Further forms of the successful response, in addition to the JSON that the schema of the route describes. */
export const describedFiles: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  'get /v1/ui/meters/{meterRef}/usage': usageFiles,
  'get /ui/meters/{meterRef}/usage': usageFiles,
}
