import type { ReactElement } from 'react'
import { creditValueMinor } from '@tollgate/domain/money/credits'
import { toFraction } from '@tollgate/domain/money/exchange-rates'
import type { WalletMovement } from '@tollgate/domain/wallet/list-movements'
import { wholeCredits } from '@tollgate/domain/money/whole-credits'
import { PostForm } from '../post-form.tsx'
import type { PlainKey, Texts } from '../texts/texts.ts'
import { movementsPerPage, type CreditsView } from './credits-view.ts'
import { AutoRechargeForm, type AutoRechargeFields } from './auto-recharge-form.tsx'
import type { Portal } from './portal.ts'
import type { Notice } from '../notice.tsx'
import { PortalPage } from './portal-page.tsx'

type CreditsPageProps = {
  readonly portal: Portal
  readonly view: CreditsView
  /** Fields of the customer's form, if its terms were refused. */
  readonly typed: AutoRechargeFields | undefined
  readonly notice: Notice | undefined
}

export function CreditsPage({ portal, view, typed, notice }: CreditsPageProps): ReactElement {
  const { t, formats } = portal.frame
  const { leftMicros, displayRate, nextGrant } = view
  const credits = wholeCredits(leftMicros)
  const { currency } = displayRate
  const worthMinor = creditValueMinor(BigInt(credits), currency, toFraction(displayRate))
  return (
    <PortalPage portal={portal} section="credits" title={t('portal:navCredits')} notice={notice}>
      <h1>{t('portal:navCredits')}</h1>
      <section className="card" aria-label={t('portal:balance')}>
        <p className="figure">{t('shared:credits', { count: credits })}</p>
        <p className="quiet">
          {t('portal:worth', { amount: formats.money(worthMinor, currency) })}
        </p>
        {nextGrant !== undefined && (
          <p className="quiet">
            {t('portal:nextGrant', {
              credits: t('shared:credits', { count: Number(nextGrant.credits) }),
              date: formats.date(nextGrant.at),
            })}
          </p>
        )}
        <PostForm page={portal} path="/top-up">
          <div className="actions">
            <button className="button main" type="submit">
              {t('portal:buyCredits')}
            </button>
          </div>
        </PostForm>
      </section>
      <AutoRechargeForm portal={portal} view={view} typed={typed} />
      <Movements portal={portal} view={view} />
    </PortalPage>
  )
}

/** Names of the ledger's movements for the customer. */
const kindTexts: Readonly<Record<WalletMovement['kind'], PlainKey>> = {
  grant: 'portal:moveGrant',
  top_up: 'portal:moveTopUp',
  adjustment: 'portal:moveAdjustment',
  usage: 'portal:moveUsage',
  expiry: 'portal:moveExpiry',
  write_off: 'portal:moveWriteOff',
  take_back: 'portal:moveTakeBack',
  give_back: 'portal:moveGiveBack',
}

/** Returns whether the provider wrote the reason. Tollgate itself writes the reasons of other movements, in English only. */
function hasReasonOfProvider(kind: WalletMovement['kind']): boolean {
  return kind === 'grant' || kind === 'adjustment'
}

type MovementsProps = {
  readonly portal: Portal
  readonly view: CreditsView
}

function Movements({ portal, view }: MovementsProps): ReactElement {
  const { t, formats } = portal.frame
  const { movements, total, pageNumber } = view
  if (movements.length === 0) {
    return (
      <section className="card">
        <h2>{t('portal:movements')}</h2>
        <p className="quiet">{t('portal:noMovements')}</p>
      </section>
    )
  }
  return (
    <section className="card">
      <h2>{t('portal:movements')}</h2>
      <div className="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{t('portal:when')}</th>
              <th scope="col">{t('portal:what')}</th>
              <th scope="col" className="number">
                {t('portal:navCredits')}
              </th>
            </tr>
          </thead>
          <tbody>
            {movements.map(({ reference, kind, reason, createdAt, amountMicros }) => (
              <tr key={reference}>
                <td>
                  <time dateTime={createdAt.toISOString()}>{formats.dateTime(createdAt)}</time>
                </td>
                <td>{(hasReasonOfProvider(kind) ? reason : null) ?? t(kindTexts[kind])}</td>
                <td className="number">{formats.change(Number(amountMicros) / 1_000_000)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pagination path={`${portal.path}/credits`} pageNumber={pageNumber} total={total} t={t} />
    </section>
  )
}

type PaginationProps = {
  readonly path: string
  readonly pageNumber: number
  readonly total: number
  readonly t: Texts
}

function Pagination({ path, pageNumber, total, t }: PaginationProps): ReactElement | null {
  const last = Math.ceil(total / movementsPerPage)
  if (last <= 1) return null
  return (
    <nav className="row spread" aria-label={t('portal:pagesOfMovements')}>
      {pageNumber > 1 ? (
        <a href={`${path}?page=${pageNumber - 1}`}>{t('portal:newer')}</a>
      ) : (
        <span />
      )}
      <span className="quiet">{t('portal:pageOf', { page: pageNumber, pages: last })}</span>
      {pageNumber < last ? (
        <a href={`${path}?page=${pageNumber + 1}`}>{t('portal:older')}</a>
      ) : (
        <span />
      )}
    </nav>
  )
}
