/** What the lint finds: counts, and findings with links to their entries, 20 at a time (CO-70, CO-71). */
import { Anchor, Badge, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router'

import type { Pages } from '../../api/usePages'
import { useOwner } from '../../app/owner'
import { entryPath } from '../../app/paths'
import { Rows } from '../../ui/Rows'
import { Told } from '../../ui/Told'
import { Figures, Section } from './Section'
import type { Status } from './StatusPage'
import { type Finding, type LintRule, RULES } from './useLint'

export function Lint({
  counts,
  findings,
  rule,
  onRule,
}: {
  counts: Status['lint']
  findings: Pages<Finding>
  /** The rule whose findings are shown; of all rules if there is none. */
  rule: LintRule | undefined
  onRule: (rule: string) => void
}) {
  const { t } = useTranslation('status')
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  return (
    <Section id="lint" title={t('lint.title')}>
      <Group gap="xs" component="ul" p={0} m={0} aria-label={t('lint.counts')}>
        {RULES.map((one) => (
          <Badge key={one} component="li" variant="default" size="lg" tt="none">
            {t(`lint.${one}`)}: {counts.find((count) => count.rule === one)?.count ?? 0}
          </Badge>
        ))}
      </Group>
      {total > 0 && (
        <Stack gap="xs">
          <SegmentedControl
            size="xs"
            aria-label={t('lint.rule')}
            value={rule ?? ''}
            onChange={onRule}
            data={[
              { value: '', label: t('lint.all') },
              ...RULES.map((one) => ({ value: one, label: t(`lint.${one}`) })),
            ]}
          />
          <Findings pages={findings} />
        </Stack>
      )}
      {total === 0 && <Text>{t('lint.none')}</Text>}
    </Section>
  )
}

/** What it is and what helps: in the server's words, or in the reader's. */
function Detail({ of }: { of: Finding }) {
  const { t, i18n } = useTranslation('status')
  if (i18n.language === 'en') return <Told>{of.detail}</Told>
  return <>{t(`lint.means.${of.rule}`, { measure: of.measure ?? '' })}</>
}

function Findings({ pages }: { pages: Pages<Finding> }) {
  const { t } = useTranslation('status')
  const owner = useOwner()
  return (
    <Rows pages={pages} empty={t('lint.none')}>
      {(rows) => (
        <Figures label={t('lint.findings')} heads={[t('lint.rule'), t('lint.entries'), t('lint.detail')]}>
          {rows.map((row) => (
            <Table.Tr key={`${row.rule} ${row.entries.map(({ id }) => id).join(' ')}`}>
              <Table.Td>{t(`lint.${row.rule}`)}</Table.Td>
              <Table.Td>
                {row.entries.map(({ id, name }) => (
                  <Anchor key={id} component={Link} to={entryPath(owner.id, id)} size="sm" display="block">
                    <Told>{name}</Told>
                  </Anchor>
                ))}
              </Table.Td>
              <Table.Td>
                <Detail of={row} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Figures>
      )}
    </Rows>
  )
}
