/* SPDX-FileCopyrightText: 2026 The llmcost authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The names of libcurl that include/llmcost/hub uses, with their values in libcurl's stable binary interface: for
 * builds without libcurl's headers. libcurl is loaded at run time, where there is one. */
#ifndef LLMCOST_WEB_CURL_H
#define LLMCOST_WEB_CURL_H

#include <stddef.h>

typedef void CURL;
typedef struct Curl_URL CURLU;
struct curl_slist;

#define CURL_ERROR_SIZE 256
#define CURL_GLOBAL_DEFAULT 3

typedef enum {
    CURLE_OK = 0,
    CURLE_PARTIAL_FILE = 18,
    CURLE_HTTP2 = 16,
    CURLE_OPERATION_TIMEDOUT = 28,
    CURLE_GOT_NOTHING = 52,
    CURLE_SEND_ERROR = 55,
    CURLE_RECV_ERROR = 56,
    CURLE_HTTP2_STREAM = 92
} CURLcode;
typedef enum {
    CURLOPT_URL = 10002,
    CURLOPT_FOLLOWLOCATION = 52,
    CURLOPT_HTTP09_ALLOWED = 285,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_NETRC = 51,
    CURLOPT_SSL_VERIFYPEER = 64,
    CURLOPT_SSL_VERIFYHOST = 81,
    CURLOPT_CAINFO = 10065,
    CURLOPT_NOPROXY = 10177,
    CURLOPT_NOBODY = 44,
    CURLOPT_USERAGENT = 10018,
    CURLOPT_HTTPHEADER = 10023,
    CURLOPT_HEADEROPT = 229,
    CURLOPT_CONNECTTIMEOUT_MS = 156,
    CURLOPT_TIMEOUT_MS = 155,
    CURLOPT_LOW_SPEED_LIMIT = 19,
    CURLOPT_LOW_SPEED_TIME = 20,
    CURLOPT_HEADERFUNCTION = 20079,
    CURLOPT_HEADERDATA = 10029,
    CURLOPT_WRITEFUNCTION = 20011,
    CURLOPT_WRITEDATA = 10001,
    CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_LASTENTRY = 30000
} CURLoption;
typedef enum { CURLUE_OK = 0 } CURLUcode;
typedef enum {
    CURLUPART_URL = 0,
    CURLUPART_SCHEME = 1,
    CURLUPART_HOST = 5,
    CURLUPART_PORT = 6,
    CURLUPART_QUERY = 8,
    CURLUPART_FRAGMENT = 9
} CURLUPart;
enum { CURLPROTO_HTTP = 1, CURLPROTO_HTTPS = 2 };
enum { CURLHEADER_SEPARATE = 1 };
enum { CURL_NETRC_IGNORED = 0 };
enum { CURLU_DEFAULT_PORT = 1, CURLU_DISALLOW_USER = 32 };

#ifdef __cplusplus
extern "C" {
#endif

CURLcode curl_global_init(long flags);
CURL* curl_easy_init(void);
void curl_easy_cleanup(CURL* handle);
void curl_easy_reset(CURL* handle);
CURLcode curl_easy_setopt(CURL* handle, CURLoption option, ...);
CURLcode curl_easy_perform(CURL* handle);
const char* curl_easy_strerror(CURLcode code);
struct curl_slist* curl_slist_append(struct curl_slist* list, const char* text);
void curl_slist_free_all(struct curl_slist* list);
CURLU* curl_url(void);
void curl_url_cleanup(CURLU* url);
CURLUcode curl_url_set(CURLU* url, CURLUPart part, const char* text, unsigned flags);
CURLUcode curl_url_get(const CURLU* url, CURLUPart part, char** text, unsigned flags);
void curl_free(void* text);

#ifdef __cplusplus
}
#endif

#endif
