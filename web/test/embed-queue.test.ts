import { describe, expect, it } from 'vitest';
import { MAX_WAITING, type Job } from '../src/engine/embed-messages';
import { JobQueue } from '../src/engine/embed-queue';

function job(kind: Job['kind'], id: number): Job {
  return { type: 'job', kind, id, text: String(id) };
}

/** Everything that waits, in the order in which it is done. */
function drain(queue: JobQueue<string>): string[] {
  const order: string[] = [];
  for (let next = queue.next(); next; next = queue.next()) order.push(`${next[0]}${next[1].id}`);
  return order;
}

describe('the embedding worker’s queue', () => {
  it('does queries before spans that came earlier', () => {
    const queue = new JobQueue<string>();
    queue.push('a', job('span', 1));
    queue.push('a', job('span', 2));
    queue.push('a', job('query', 3));
    queue.push('a', job('query', 4));
    expect(drain(queue)).toEqual(['a3', 'a4', 'a1', 'a2']);
  });

  it('takes clients in turn', () => {
    const queue = new JobQueue<string>();
    for (const id of [1, 2, 3]) queue.push('a', job('span', id));
    queue.push('b', job('span', 1));
    expect(drain(queue)).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('drops what is cancelled or whose client is gone', () => {
    const queue = new JobQueue<string>();
    for (const id of [1, 2, 3]) queue.push('a', job('span', id));
    queue.push('b', job('query', 1));
    queue.cancel('a', 2);
    queue.drop('b');
    expect(drain(queue)).toEqual(['a1', 'a3']);
  });

  it('refuses more than the stated number, until some are done', () => {
    const queue = new JobQueue<string>();
    for (let id = 0; id < MAX_WAITING; id += 1) expect(queue.push('a', job('span', id))).toBe(true);
    expect(queue.push('a', job('query', -1))).toBe(false);
    queue.next();
    expect(queue.push('a', job('query', -1))).toBe(true);
    expect(queue.next()?.[1].id).toBe(-1);
  });
});
