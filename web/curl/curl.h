/* SPDX-FileCopyrightText: 2026 The llmcost authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The names of libcurl that include/llmcost/hub uses, for a program without libcurl: nothing here is ever called. */
#ifndef LLMCOST_WEB_CURL_H
#define LLMCOST_WEB_CURL_H

#include <stddef.h>

typedef void CURL;
typedef struct Curl_URL CURLU;
struct curl_slist;

#define CURL_ERROR_SIZE 256
#define CURL_GLOBAL_DEFAULT 3

typedef enum {
    CURLE_OK,
    CURLE_PARTIAL_FILE,
    CURLE_HTTP2,
    CURLE_OPERATION_TIMEDOUT,
    CURLE_GOT_NOTHING,
    CURLE_SEND_ERROR,
    CURLE_RECV_ERROR,
    CURLE_HTTP2_STREAM
} CURLcode;
typedef enum {
    CURLOPT_URL,
    CURLOPT_FOLLOWLOCATION,
    CURLOPT_HTTP09_ALLOWED,
    CURLOPT_NOSIGNAL,
    CURLOPT_NETRC,
    CURLOPT_SSL_VERIFYPEER,
    CURLOPT_SSL_VERIFYHOST,
    CURLOPT_CAINFO,
    CURLOPT_NOPROXY,
    CURLOPT_NOBODY,
    CURLOPT_USERAGENT,
    CURLOPT_HTTPHEADER,
    CURLOPT_HEADEROPT,
    CURLOPT_CONNECTTIMEOUT_MS,
    CURLOPT_TIMEOUT_MS,
    CURLOPT_LOW_SPEED_LIMIT,
    CURLOPT_LOW_SPEED_TIME,
    CURLOPT_HEADERFUNCTION,
    CURLOPT_HEADERDATA,
    CURLOPT_WRITEFUNCTION,
    CURLOPT_WRITEDATA,
    CURLOPT_ERRORBUFFER,
    CURLOPT_LASTENTRY = 1000
} CURLoption;
typedef enum { CURLUE_OK } CURLUcode;
typedef enum {
    CURLUPART_URL,
    CURLUPART_SCHEME,
    CURLUPART_HOST,
    CURLUPART_PORT,
    CURLUPART_QUERY,
    CURLUPART_FRAGMENT
} CURLUPart;
enum { CURLPROTO_HTTP = 1, CURLPROTO_HTTPS = 2 };
enum { CURLHEADER_SEPARATE = 1 };
enum { CURL_NETRC_IGNORED };
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
