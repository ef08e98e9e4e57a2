/** The order in which the embedding worker does its jobs: queries first, each kind in turn. */

import { MAX_WAITING, type Job } from './embed-messages';

export class JobQueue<Client> {
  private readonly queries = new Map<Client, Map<number, Job>>();
  private readonly spans = new Map<Client, Map<number, Job>>();
  private waiting = 0;

  /** False if too many jobs wait already. A job under the number of a waiting one replaces it. */
  push(client: Client, job: Job): boolean {
    this.cancel(client, job.id);
    if (this.waiting >= MAX_WAITING) return false;
    const all = job.kind === 'query' ? this.queries : this.spans;
    let jobs = all.get(client);
    if (!jobs) all.set(client, (jobs = new Map()));
    jobs.set(job.id, job);
    this.waiting += 1;
    return true;
  }

  /** Takes the next job off: clients in turn, each client's jobs in their order. */
  next(): [Client, Job] | undefined {
    for (const all of [this.queries, this.spans]) {
      for (const [client, jobs] of all) {
        for (const [id, job] of jobs) {
          jobs.delete(id);
          this.waiting -= 1;
          all.delete(client);
          if (jobs.size > 0) all.set(client, jobs);
          return [client, job];
        }
      }
    }
    return undefined;
  }

  cancel(client: Client, id: number): void {
    for (const all of [this.queries, this.spans]) {
      const jobs = all.get(client);
      if (!jobs?.delete(id)) continue;
      this.waiting -= 1;
      if (jobs.size === 0) all.delete(client);
    }
  }

  /** Forgets a client that is gone. */
  drop(client: Client): void {
    for (const all of [this.queries, this.spans]) {
      this.waiting -= all.get(client)?.size ?? 0;
      all.delete(client);
    }
  }
}
