// Which pages the site has, in which group of the sidebar, and what links between them become.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const docs = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
export const repository = 'https://github.com/understudy-go/understudy'

const root = path.dirname(docs)

// The pages of docs/guide in the order in which to read them. Others follow, by name.
const guide = [
  'getting-started', 'testing', 'kubernetes', 'examples', 'troubleshooting',
  'settings', 'faq',
]

// Pages for people who change Understudy, beside the folder contributing.
const contributing = ['releasing.md', 'decisions.md']

const read = (page: string) => fs.readFileSync(path.join(docs, page), 'utf8')

// The pages of a folder, by name.
function pagesOf(folder: string): string[] {
  const dir = path.join(docs, folder)
  if (!fs.existsSync(dir)) return []
  return fs.readdirSync(dir).filter((name) => name.endsWith('.md')).sort().map((name) => path.posix.join(folder, name))
}

// The pages that a table of docs/README.md names, by the heading above the table.
function tables(): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  let group = ''
  for (const line of read('README.md').split('\n')) {
    if (line.startsWith('## ')) group = line.slice(3).trim()
    const page = /^\| \[[^\]]*\]\(([^):#]+\.md)\) \|/.exec(line)?.[1]
    if (page && fs.existsSync(path.join(docs, page)) && !page.startsWith('..')) {
      groups.set(group, [...(groups.get(group) ?? []), page])
    }
  }
  return groups
}

// The first heading of a page, without the part after a colon, which a sidebar has no room for.
function titleOf(page: string): string {
  const heading = /^# (.+)$/m.exec(read(page))?.[1] ?? page
  return heading.split(': ')[0].replaceAll('`', '')
}

// The title of the page that a link of another one leads to, if it is one of docs.
export function titleAt(page: string, href: string): string | undefined {
  const target = path.posix.join(path.posix.dirname(page), href)
  return target.endsWith('.md') && !target.startsWith('..') ? titleOf(target) : undefined
}

export function sidebar() {
  const groups = tables()
  const placeOf = (page: string) => (guide.indexOf(path.basename(page, '.md')) + guide.length + 1) % (guide.length + 1)
  const guides = pagesOf('guide').filter((page) => path.basename(page) !== 'README.md')
    .sort((a, b) => placeOf(a) - placeOf(b) || a.localeCompare(b))
  const named = new Set([...groups.values()].flat())
  const rest = pagesOf('').filter((page) => page !== 'README.md' && !contributing.includes(page) && !named.has(page))
  const all: [string, string[]][] = [['Guide', guides]]
  for (const [name, pages] of groups) {
    all.push([name, pages.filter((page) => !page.startsWith('guide/'))])
  }
  all.push(['More', rest])
  const others = pagesOf('contributing').filter((page) => page !== 'contributing/README.md')
  all.push(['Contributing', ['contributing/README.md', ...others, ...contributing]])
  return all.filter(([, pages]) => pages.length > 0).map(([text, pages]) => ({
    text,
    collapsed: text === 'Contributing',
    items: pages.map((page) => ({ text: titleOf(page), link: '/' + page.replace(/README\.md$/, '').replace(/\.md$/, '') })),
  }))
}

// The pages in the order of the sidebar, each with its path below docs.
export function inOrder(): string[] {
  return ['README.md', ...sidebar().flatMap((group) => group.items.map(({ link }) => {
    const page = link.slice(1)
    return page.endsWith('/') ? page + 'README.md' : page + '.md'
  }))]
}

// What a link of a page becomes on the site. Pages stay links to pages. All else in the repository
// is shown by GitHub.
export function linkOf(page: string, href: string): string {
  if (/^[a-z]+:/i.test(href) || href.startsWith('#') || href.startsWith('/')) return href
  const [file, anchor] = href.split('#', 2)
  const target = path.resolve(docs, path.dirname(page), decodeURIComponent(file))
  const inDocs = target.startsWith(docs + path.sep)
  if (inDocs && target.endsWith('.md')) {
    return file.replace(/README\.md$/, 'index.md') + (anchor ? '#' + anchor : '')
  }
  if (inDocs && fs.existsSync(path.join(target, 'README.md'))) {
    return file.replace(/\/?$/, '/index.md')
  }
  if (!fs.existsSync(target)) throw new Error(`docs/${page} links to ${href}, which does not exist`)
  const kind = fs.statSync(target).isDirectory() ? 'tree' : 'blob'
  const below = path.relative(root, target).split(path.sep).join('/')
  return `${repository}/${kind}/main/${below}${anchor ? '#' + anchor : ''}`
}

// The anchor that GitHub gives to a heading.
export function slugify(heading: string): string {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replaceAll(' ', '-')
}
