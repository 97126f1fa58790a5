import type { ReactElement, ReactNode } from 'react'
import { NoticeLine, type Notice } from '../notice.tsx'
import { Page } from '../page.tsx'
import { PostForm } from '../post-form.tsx'
import type { Portal } from './portal.ts'

/** The sections of the portal, in the order of their links. */
const sections = [
  { name: 'plans', label: 'portal:navPlans', path: '' },
  { name: 'credits', label: 'portal:navCredits', path: '/credits' },
  { name: 'invoices', label: 'portal:navInvoices', path: '/invoices' },
  { name: 'payment', label: 'portal:navPayment', path: '/payment' },
] as const

type SectionName = (typeof sections)[number]['name']

type PortalPageProps = {
  readonly portal: Portal
  readonly section: SectionName
  readonly title: string
  readonly notice?: Notice | undefined
  readonly scripts?: readonly string[]
  readonly children: ReactNode
}

export function PortalPage({
  portal,
  section,
  title,
  notice,
  scripts = [],
  children,
}: PortalPageProps): ReactElement {
  const { frame } = portal
  return (
    <Page
      frame={frame}
      title={title}
      navigation={<Navigation portal={portal} section={section} />}
      scripts={[frame.files.script, ...scripts]}
    >
      <NoticeLine notice={notice} />
      {children}
    </Page>
  )
}

function Navigation(props: {
  readonly portal: Portal
  readonly section: SectionName
}): ReactElement {
  const { portal, section } = props
  const { t } = portal.frame
  return (
    <nav className="wide row tabs" aria-label={t('shared:account')}>
      <ul>
        {sections.map(({ name, label, path }) => (
          <li key={name}>
            <a href={portal.path + path} aria-current={name === section ? 'page' : undefined}>
              {t(label)}
            </a>
          </li>
        ))}
      </ul>
      <PostForm page={portal} path="/sign-out">
        <button
          className="button plain"
          type="submit"
          title={t('portal:signedInAs', { email: portal.customer.email })}
        >
          {t('portal:signOut')}
        </button>
      </PostForm>
    </nav>
  )
}
