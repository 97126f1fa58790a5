import { z } from 'zod'
import type { Database } from '@tollgate/platform/database/database'
import { assetTypeOf } from '@tollgate/domain/merchants/asset-type'
import { assetKinds, findAsset, putAsset } from '@tollgate/domain/merchants/assets'
import { requiredReference } from '@tollgate/schemas/http/fields'
import { assetAddressSchema } from '@tollgate/schemas/http/merchants'
import { refusals } from '../../errors.ts'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { operationOf } from '../../access/caller.ts'
import { assetsPath, assetUrl } from '../../pages/asset-url.ts'

/** The address changes with the image, so caches may keep it for a year. */
const cacheControl = 'public, max-age=31536000, immutable'

/** Registers the public routes of providers' images. Older clients use the second path. */
export function registerPublicAssetRoutes(app: ApiServer, database: Database): void {
  const shared = {
    tags: ['Merchant'],
    security: [],
    params: z.object({ sha256: requiredReference }),
  }
  for (const path of [assetsPath, assetsPath.replace('/v1/', '/v1/ui/')]) {
    app.get(
      `${path}/:sha256`,
      { schema: { ...shared, hide: path !== assetsPath } },
      async (request, reply) => {
        const { sha256 } = request.params
        const asset =
          (await findAsset(database.in('live'), sha256)) ??
          (await findAsset(database.in('sandbox'), sha256))
        if (asset === undefined) throw refusals.assetNotFound(sha256)
        return reply
          .type(asset.contentType)
          .header('cache-control', cacheControl)
          .header('x-content-type-options', 'nosniff')
          .header('content-security-policy', "default-src 'none'; sandbox")
          .header('cross-origin-resource-policy', 'cross-origin')
          .send(asset.bytes)
      },
    )
  }
}

/** Registers `PUT /v1/ui/merchant/logo` and `/icon`. The body is the image itself. */
export function registerAssetUploadRoute(
  app: ApiServer,
  parts: ChangeParts & { readonly hostedUrl: string },
): void {
  app.addContentTypeParser(/^image\//, { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body)
  })
  app.put(
    '/v1/ui/merchant/:kind',
    {
      config: { takesImage: true },
      schema: {
        tags: ['Merchant'],
        params: z.object({ kind: z.enum(assetKinds) }),
        response: { 200: assetAddressSchema },
      },
    },
    async (request) => {
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const contentType = assetTypeOf(bytes)
      if (contentType === undefined) throw refusals.notAnImage()
      const { kind } = request.params
      const image = { contentType, bytes }
      const sha256 = await commit(parts, operationOf(request, parts.clock), (work) =>
        putAsset(work.sql, work.providerId, kind, image, work.now),
      )
      return { url: assetUrl(parts.hostedUrl, sha256) }
    },
  )
}
