import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReactElement } from 'react'
import {
  customerSessionStatus,
  openPortal,
  locateCustomerSession,
  type LocatedCustomerSession,
} from '@tollgate/domain/sessions/customer-sessions'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { PublisherParts } from '@tollgate/domain/publishing/publisher-parts'
import type { Clock } from '@tollgate/platform/clock/clock'
import type { ApiServer } from '../../access/api-server.ts'
import { cookieOptions, handleOf, parseCookie, writeCookie } from '../cookies.ts'
import { formFields } from '../form-fields.ts'
import { frameOf, type Frame, type FrameParts } from '../frame.ts'
import { Page, sendPage } from '../page.tsx'
import { ProblemError, problems } from '../problem.tsx'
import { portalCookie, portalPath } from './portal.ts'

export type OpenPortalParts = FrameParts & {
  readonly publisher: PublisherParts
  readonly clock: Clock
  readonly limits: { readonly portalOpenMs: number }
}

/**
 * Registers the page of a portal link. The page contains a form that uses the link up, and a script sends the form at once. Mail
 * scanners and chat programs that preview links do neither, so they do not use up the customer's link. Afterwards no address
 * contains the session id.
 */
export function registerPortalOpening(app: ApiServer, pages: OpenPortalParts): void {
  app.get(portalPath, { schema: { hide: true } }, async (request, reply) => {
    const { id } = request.query as { readonly id?: unknown }
    const found = await requireLink(pages, id)
    const handle = handleOf(found.session.sessionId)
    // The page was reloaded, or the portal is already open in this browser.
    if (parseCookie(request.cookies[portalCookie(handle)]) !== undefined) {
      return reply.redirect(`${pages.basePath}${portalPath}/${handle}`, 303)
    }
    const frame = await frameOf(pages, request, found, found.session.locale)
    requireActiveLink(pages, found, frame)
    return sendPage(reply, 200, <OpeningPage frame={frame} sessionId={found.session.sessionId} />)
  })

  app.post(portalPath, { schema: { hide: true } }, async (request, reply) => {
    const found = await requireLink(pages, formFields(request)['id'])
    const frame = await frameOf(pages, request, found, found.session.locale)
    requireActiveLink(pages, found, frame)
    const token = await usePortalLink(pages, found)
    if (token === undefined) throw new ProblemError(problems.linkUsed, frame)
    return enterPortal(pages, request, reply, found, token)
  })
}

const dayMs = 86_400_000

type FoundLink = LocatedCustomerSession & { readonly environment: Environment }

async function requireLink(
  pages: { readonly publisher: PublisherParts },
  sessionId: unknown,
): Promise<FoundLink> {
  if (typeof sessionId === 'string' && /^[0-9a-f]{32}$/.test(sessionId)) {
    for (const environment of environments) {
      const placed = await locateCustomerSession(
        pages.publisher.database.in(environment),
        sessionId,
      )
      if (placed !== undefined) return { ...placed, environment }
    }
  }
  throw new ProblemError(problems.noSuchLink)
}

function requireActiveLink(
  pages: { readonly clock: Clock },
  { session }: FoundLink,
  frame: Frame,
): void {
  const status = customerSessionStatus(session, new Date(pages.clock.now()))
  if (status === 'used') throw new ProblemError(problems.linkUsed, frame)
  if (status === 'expired') throw new ProblemError(problems.linkExpired, frame)
}

function usePortalLink(pages: OpenPortalParts, found: FoundLink): Promise<string | undefined> {
  const { providerId, environment, session } = found
  const now = new Date(pages.clock.now())
  const openUntil = new Date(now.getTime() + pages.limits.portalOpenMs)
  return pages.database
    .of(providerId)
    .in(environment)
    .write((sql) => openPortal(sql, providerId, session.sessionId, openUntil, now))
}

export function enterPortal(
  pages: OpenPortalParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { session, environment }: FoundLink,
  token: string,
): FastifyReply {
  const handle = handleOf(session.sessionId)
  const path = `${pages.basePath}${portalPath}`
  const isSecure = new URL(pages.hostedUrl).protocol === 'https:'
  request.log.info({ handle }, 'a portal was opened')
  return reply
    .setCookie(portalCookie(handle), writeCookie(environment, token), {
      ...cookieOptions(path, isSecure),
      // The cookie lasts longer than the open portal, so that the page about its end can still show the provider.
      maxAge: Math.floor((pages.limits.portalOpenMs + dayMs) / 1_000),
    })
    .redirect(`${path}/${handle}`, 303)
}

function OpeningPage(props: { readonly frame: Frame; readonly sessionId: string }): ReactElement {
  const { frame, sessionId } = props
  const { t, merchant } = frame
  return (
    <Page frame={frame} title={t('shared:account')} narrow scripts={[frame.files.script]}>
      <form
        className="card centred"
        method="post"
        action={`${frame.basePath}${portalPath}`}
        data-send="at-once"
      >
        <h1>
          {merchant === undefined
            ? t('shared:account')
            : t('shared:accountWith', { name: merchant.name })}
        </h1>
        <p>{t('portal:openingText')}</p>
        <input type="hidden" name="id" value={sessionId} />
        <button className="button main" type="submit">
          {t('portal:continue')}
        </button>
      </form>
    </Page>
  )
}
